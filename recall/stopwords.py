"""English words that carry no matter of their own, remains of contractions, what people say to a chat; and usual names."""

from __future__ import annotations

_STOP = """
    a about above after again against all also am an and any are as at be because been before being below between both
    but by ca can could did do does doing down during each few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just let me more most my myself no nor not of off on once
    only or other our ours ourselves out over own per please same shall she should so some such than that the their
    theirs them themselves then there these they this those through to too under until up upon us very was we were what
    when where which while who whom whose why will with within without wo would you your yours yourself yourselves
    """
STOP_WORDS = frozenset(_STOP.split())

# Words of greetings, thanks, assent and steering: they are searched, and say little about what is asked.
_SMALL = """
    hello hi hey hiya howdy greetings bye goodbye cheers thanks thank thx welcome sorry ok okay yes no yeah yep yup
    nope nah sure alright fine good great nice cool awesome perfect wonderful lovely morning afternoon evening night
    lol haha hahaha hmm um uh wow oh ah well really maybe please continue stop wait go going on keep next again repeat
    undo cancel never mind help tell say joke funny bored back done start test testing hear now today tomorrow time
    date day moment second right like know think want make get got let better more shorter explain understand answer
    anything something nothing everything thing things weather rain raining lot robot there blah asdf merry christmas
    happy dear hola gracias buenos dias bonjour merci beaucoup danke hallo guten tag morgen ciao grazie obrigado
    你好 谢谢 再见 今天 天气 几点 笑话 现在 请问 您好
    早上好 こんにちは ありがとう おはよう 今何時 冗談 안녕하세요 고마워 감사합니다 지금
    몇시 농담 привет спасибо مرحبا شكرا שלום תודה สวัสดี ขอบคุณ
"""
SMALL_TALK = frozenset(_SMALL.split())

# Names of places, peoples, people and things that general text has so often that they look like common words.
_FAMILIAR = """
    africa african america american angeles antarctic antarctica arkansas asia atlantic australia australian austria beijing
    belgium berlin boston brazil britain british california canada canadian carolina chicago china chinese columbia dakota
    dubois dutch england english euro europe european france french german germany greek hampshire hong illinois india indian
    indiana iowa ireland italian italy japan japanese jersey kansas kentucky kong korea korean london manhattan massachusetts
    merrimack mexican mexico michigan mississippi missouri namibia netherlands norway ohio oklahoma ontario pacific paris
    poland portuguese rome russia russian scotland soviet spain spanish sweden swedish tennessee texas tokyo toronto utc
    victoria virginia wales washington wisconsin york eu fm tv uk usa ip rfc ipv6 paymentsapi mimir penicillin
    achebe albert alexander amara annelise arjun bjorn charles david declan edward elizabeth finn george henry imogen ines
    jackson james jean jimenez john jones jose joseph kevin kim kofi louis lucia luis margot martin mary michael nadia paul
    peter petra robert ruben sam samira samuel smith taylor thomas tom tomas viktor william catholic christian roman olympics
    olympiad
"""
FAMILIAR_NAMES = frozenset(_FAMILIAR.split())
