"""Knows an answer that says that nothing was found, and words that are nothing but courtesy.

Invariant: pure. It looks at the words alone and may be wrong either way, so whoever asks has
further reasons to go by.
"""

import re

from chat.evidence import words_of
from data.knowledge.scripts import UNSPACED
from data.knowledge.stop_words import WORDS

_UNSPACED = re.compile(f"[{UNSPACED}]")

_DENIALS = (
    # English
    r"\b(?:could|can|did|do|does|is|am|was|are|were|has|have)(?:n['’]?t| ?not)\b[^.!?\n]{0,40}"
    r"\b(?:find|found|know|known|mention\w*|sa(?:y|id)|tell|told|contain\w*|specif\w*|stated?|listed"
    r"|given|clear|answer|information|sure|appear\w*|include\w*|provide\w*|cover\w*|see)\b",
    r"\bnot (?:mentioned|stated|specified|listed|given|found|covered|known)\b",
    r"\bnot in (?:the|my|this|these)\b",
    r"\b(?:found|find|finds|know|say|says|mentions?|contains?|see) (?:absolutely )?nothing\b",
    r"\bnothing (?:about|regarding|on (?:this|that)|is (?:said|known|mentioned|there))\b",
    r"\bno (?:information|mention|details?|records?|idea|data|answer|such (?:thing|data))\b",
    r"\bunable to (?:find|answer|tell|say)\b",
    r"\bunknown\b",
    # German
    r"\b(?:finde|find|fand|gefunden|steht|weiß|weiss|sagt|enthält|enthalten|erwähnt|konnte|kann"
    r"|habe?|gibt|liegt)\b[^.!?\n]{0,50}\bnichts\b",
    r"\bnichts\b[^.!?\n]{0,60}"
    r"\b(?:gefunden|finden|bekannt|steht|darüber|dazu|davon|erwähnt|gesagt)\b",
    r"\bkeine?[nrm]? (?:genauen? )?(?:angabe|info|hinweis|ahnung|antwort|daten|auskunft|erwähnung"
    r"|eintr[aä]g|stelle)\w*",
    r"\bnicht (?:bekannt|angegeben|erwähnt|genannt|gefunden|finden|sagen|beantworten|enthalten"
    r"|vermerkt|aufgeführt|verzeichnet|hervor)\b",
    r"\bwei(?:ß|ss)\b[^.!?\n]{0,30}\bnicht\b",
    # French, Spanish, Portuguese, Italian
    r"\bne (?:l['’])?(?:sais|trouve|mentionne|contient|précise|dit)\w*\b[^.!?\n]{0,20}"
    r"\b(?:pas|rien)\b",
    r"\bn['’](?:ai|est|a|y a)\b[^.!?\n]{0,20}\b(?:rien|pas)\b[^.!?\n]{0,20}"
    r"\b(?:trouv|mentionn|précis|indiqu|inform)\w*",
    r"\baucune? (?:information|mention|indication|donnée)\w*",
    r"\bno (?:lo |la )?(?:sé|encuentr\w*|encontr\w*|aparece\w*|mencion\w*|figura\w*"
    r"|se (?:mencion|indic|especific|dice)\w*)",
    r"\b(?:no (?:hay|tengo) )?(?:ningun[ao] )?(?:información|mención|datos) (?:al respecto|alguna)",
    r"\bno (?:hay|tengo)\b[^.!?\n]{0,20}\b(?:información|mención|datos|nada)\b",
    r"\bnão (?:sei|encontr\w*|consta\w*|mencion\w*)",
    r"\bnão (?:há|tenho)\b[^.!?\n]{0,20}\b(?:informa|nada)\w*",
    r"\bnon (?:lo )?(?:so|trovo|menzion\w*|risulta\w*)\b",
    r"\bnon (?:ho|è|c['’]è|viene|ci sono)\b[^.!?\n]{0,20}"
    r"\b(?:trovat|menzionat|indicat|informazion)\w*",
    # Dutch, Swedish, Polish, Russian, Turkish
    r"\b(?:weet|vind|vond|staat|kan)\b[^.!?\n]{0,40}\bniets?\b",
    r"\bgeen (?:informatie|vermelding|idee)\b",
    r"\b(?:vet|hittar|hittade|finns|står|nämns)\b[^.!?\n]{0,30}\b(?:inte|inget|ingenting)\b",
    r"\bnie (?:wiem|znala\w*|znajduj\w*|znam|podano|wspomin\w*)",
    r"\bbrak (?:informacji|danych|wzmianki)",
    r"\bне (?:знаю|наш\w*|найд\w*|указан\w*|упомина\w*|сказано|могу (?:найти|сказать))",
    r"\b(?:нет (?:информации|данных|сведений)|ничего (?:не|об?|про))\b",
    r"\b(?:bilmiyorum|bulamadım|bilgi (?:yok|bulunm\w*)|hiçbir bilgi)\b",
    # Japanese, Chinese, Korean, Thai, Arabic, Hindi
    r"(?:わか|分か|見つか|見当た|知)り?(?:ら|り)?(?:ません|ない)",
    r"(?:情報|記載|記述|記録)[^。\n]{0,8}(?:ません|ない|無)",
    r"不知道|找不到|(?:没|沒)有(?:找到|提到|提及|相关|相關|信息|資訊|记载|記載)",
    r"未(?:提及|提到|找到|记载|記載|说明|說明)",
    r"(?:无法|無法)(?:找到|回答)",
    r"모르|모릅|찾을 수 없|찾지 못|나와 ?있지 않",
    r"(?:정보|언급|내용|기록)(?:가|이|은|는)? ?(?:없|되지)",
    r"ไม่(?:พบ|ทราบ|รู้|มีข้อมูล)",
    r"لا أعرف|لم أجد|لا توجد معلومات",
    r"(?:पता|जानकारी|उल्लेख) नहीं|नहीं मिल",
)
_DENIED = re.compile("|".join(_DENIALS))

_COURTESY = """bye cheers fine glad goodbye hello help hey hi morning night okay pleasure sorry
thank thanks welcome danke dank dir freut gern gerne geschehen gut guten hallo hilfe klar tschüss
willkommen bonjour bienvenue merci plaisir rien salut gracias gusto hola nada placer obrigado
obrigada prazer olá ciao grazie piacere prego graag hej tack varsågod dziękuję cześć proszę спасибо
привет пожалуйста teşekkürler merhaba rica"""
COURTESY = frozenset(_COURTESY.split())
"""Words of greetings and thanks."""
COURTEOUS = re.compile(
    "ありがとう|どういたしまして|こんにちは|おはよう|こんばんは|谢谢|謝謝|不客气|不客氣|你好|您好"
    "|감사합니다|천만에요|안녕하세요|ขอบคุณ|สวัสดี|ยินดี|شكرا|مرحبا|धन्यवाद|नमस्ते"
)
"""The same where words are not set apart, or not listed."""


def only_courteous(text: str) -> bool:
    """Whether a message greets or thanks, and asks for nothing: a word beside that says nothing
    of its own changes nothing."""
    folded = text.casefold()
    if "?" in folded:
        return False
    left = COURTEOUS.sub(" ", folded)
    words = [word for word in words_of(left) if word not in WORDS]
    polite = left != folded or bool(words)
    return polite and COURTESY.issuperset(words) and not _UNSPACED.search(left)


def denies(answer: str) -> bool:
    """Whether an answer says that something is not known, or was not found."""
    return _DENIED.search(answer.casefold()) is not None
