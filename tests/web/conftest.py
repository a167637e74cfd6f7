import pytest
from fake_service import FakeService
from flask.testing import FlaskClient

from graph.settings import Settings
from web.app import create_app


@pytest.fixture
def fake() -> FakeService:
    return FakeService()


@pytest.fixture
def settings() -> Settings:
    return Settings(port=0, threads=4, max_body_mb=1)


@pytest.fixture
def client(fake: FakeService, settings: Settings) -> FlaskClient:
    return create_app(fake, settings).test_client()
