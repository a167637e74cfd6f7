import pytest
from fake_service import FakeService
from flask.testing import FlaskClient

from graph.settings import Settings
from web.app import create_app


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def settings() -> Settings:
    return Settings(port=0, threads=4, max_body_mb=1)


@pytest.fixture
def client(service: FakeService, settings: Settings) -> FlaskClient:
    return create_app(service, settings).test_client()
