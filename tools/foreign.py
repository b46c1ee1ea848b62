"""Judges whether text that nobody here wrote talks to the model rather than to its readers.

Invariant: pure, and about the same effort a character whatever the text. A verdict only takes
rights away: it withdraws tools for the rest of a turn. So a text about such attacks may be judged
harshly, while a single hostile page in many that slips through is what the other bounds are for:
approval, rights of the asking member, calls that stand in foreign text.
"""

import re
import unicodedata
from collections.abc import Mapping

_LONGEST = 60_000
"""Characters that are looked at; results are cut well before."""

_INVISIBLE = re.compile(r"[\u00ad\u034f\u180b-\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_HIDDEN_TAGS = range(0xE0000, 0xE0080)
_MARKUP = str.maketrans("", "", "*`\"“”„'’‘«»~")
_GAP = r"[^.!?\n。！？]"
"""Within a sentence."""

_DROP = (
    r"(?:(?<!not )(?<!dont )(?<!never )(?:ignor\w*|forget))|disregard\w*|overrid\w*|discard|"
    r"neglect|bypass|skip|"
    r"(?:do not|dont|stop|no longer) (?:follow|obey|apply|comply with)\w*|"
    r"pay no (?:attention|heed) to"
)
_RULES = (
    r"(?:instructions?|prompts?|directions|directives?|guidelines|guardrails|rules|commands|orders|"
    r"programming|constraints|system message|context|training|restrictions|safety \w+)"
)
_BEFORE = (
    r"(?:previous|prior|above|earlier|preceding|foregoing|initial|original|existing|former|past|"
    r"system|your|everything|all|any)"
)
_AI = (
    r"(?:ais?|a\.i\.|llms?|language models?|ai models?|ai assistants?|ai agents?|ai systems?|"
    r"chat ?bots?|virtual assistants?|automated assistants?|assistants?|gpt|chatgpt|claude|gemini)"
)
_PRECIOUS = (
    r"(?:system prompts?|api[ _-]?keys?|bot tokens?|access tokens?|tokens?|passwords?|credentials|"
    r"secrets|chat (?:history|logs?)|conversation(?: history| so far)?|private messages|dms|"
    r"message history|remembered facts|memories|everything you know)"
)
_SOMEWHERE = (
    r"(?:to|at|into|in|via|with|through) (?:https?:|www\.|the (?:following|url|link|"
    r"webhook)|this (?:url|address|webhook|link|server|channel)|\S+@\S+|attacker)"
)

_PATTERNS: Mapping[str, str] = {
    "drops rules": rf"\b(?:{_DROP})\b{_GAP}{{0,40}}?\b{_BEFORE}\b{_GAP}{{0,40}}?\b{_RULES}",
    "drops rules, short": rf"\b(?:{_DROP})\b (?:the |these |those |that )?(?:instructions|rules)"
    r" (?:above|before|you (?:were|have been) given|from (?:the|your) (?:system|user|developer))",
    "forgets everything": r"\bforget (?:everything|all)(?: that)? (?:above|before|you (?:know|were|"
    r"have been) )",
    "new identity": r"\byou are (?:now|no longer) (?:in )?(?:an? )?(?:dan\b|developer mode|"
    r"jailbroken|unrestricted|unfiltered|uncensored|unbound|free (?:from|of)|bound by|(?:new|"
    r"different|evil|rogue|helpful|hacker)\w* (?:ai|assistant|bot|model|persona))",
    "new mode": r"\b(?:enter|enable|activate|switch (?:in)?to|you are in) (?:the )?(?:developer|"
    r"debug|admin|maintenance|god|dan|jailbreak|unrestricted|root) mode\b"
    r"[^\n]{0,60}\b(?:you|your|all|ignore|rules|restrictions|tools?|commands?)\b",
    "from now on": r"\bfrom now on,? (?:you (?:will|must|are|shall|only|should|act|obey|answer|"
    r"speak)|(?:answer|respond|reply|act|obey) )",
    "role play": r"\b(?:pretend|act|behave) (?:to be|as|as if you (?:are|were))\b[^.!?\n]{0,40}\b"
    r"(?:no (?:rules|restrictions|limits|filter)|unrestricted|unfiltered|root|administrator|"
    r"without (?:rules|restrictions))",
    "addresses the model": rf"(?:^|[\n.:!(\[>-])\s*(?:attention|note|notice|message|important|"
    rf"instructions?|reminder|hey|dear|hello|hi|urgent|warning|to)\W{{0,3}}(?:to |"
    rf"for )?(?:all |any |"
    rf"the |every |our )?{_AI}\b\W{{0,3}}(?:[:,!—-]|reading|who|that|which|processing|summari|"
    rf"you )",
    "if you are a model": rf"\b(?:if|when|since|because|as) (?:you(?:re| are)|this is being read by"
    rf"|read by|you happen to be) (?:an? |the )?(?:{_AI})\b[^.!?\n]{{0,80}}?\b(?:you|please|then|"
    r"must|call|send|reply|respond|include|output|add|mention|say|ignore|post|stop|do)\b",
    "models that read this": rf"\b{_AI} (?:reading|processing|summari[sz]ing|visiting|viewing|"
    r"parsing|crawling|analy[sz]ing|handling) (?:this|the) (?:page|text|document|message|file|"
    r"site|email|content|article|result)",
    "urges a call": r"\b(?:you (?:must|should|need to|have to|are required to|shall)|please|now|"
    r"immediately|silently|secretly|quietly|first|then|and|to continue|next)[, ]+(?:now |"
    r"immediately |silently |also |first )?(?:call|invoke|execute|run|trigger|use) (?:the |your )?"
    r"(?:(?:tool|function) )?[a-z]+_[a-z_]+\b(?!\s+(?:method|variable|constant|macro|package))"
    r"(?=\s*(?:\(|tool\b|function\b|with\b|to\b|on\b|and\b|for\b|now\b|immediately\b|[.!]))",
    "urges tool use": r"\b(?:you (?:must|should|need to|have to)|immediately|silently|secretly|"
    r"quietly) (?:use|call|invoke) (?:the |your |any |all )?[\w-]* ?(?:tools?|"
    r"functions?) (?:to|and|"
    r"with|now)\b",
    "secrecy": r"\b(?:do not|dont|never|must not|without) (?:tell|inform|mention|reveal|show|alert|"
    r"notify|disclose|telling|informing|notifying|mentioning|alerting|asking|report)(?:ing)?\b"
    r"[^.!?\n]{0,30}\b(?:the |this to the |it to the )(?:users?|humans?|members?|person|operators?|"
    r"admins?|moderators?|asker)\b",
    "hides from": r"\b(?:keep|hide) (?:this|it|these instructions|that)[^.!?\n]{0,20} (?:secret |"
    r"hidden )?from the (?:users?|humans?|members?|admins?|moderators?)\b",
    "carries out secrets": rf"\b(?:send|post|forward|e-?mail|upload|exfiltrate|leak|transmit|"
    rf"append|submit|encode|put|include|embed|copy)\b{_GAP}{{0,50}}?\b{_PRECIOUS}\b[^!?\n]{{0,60}}?"
    rf"\b{_SOMEWHERE}",
    "fetches with secrets": rf"\b(?:fetch|open|visit|load|request|render|"
    rf"call)\b[^!?\n]{{0,60}}https?:"
    rf"[^\s]{{0,100}}[?&/=]\W?(?:\{{|\[|<|%)?[^\n]{{0,40}}\b{_PRECIOUS}",
    "asks for the prompt": r"\b(?:reveal|print|repeat|output|show|display|leak|disclose|recite|"
    r"tell me|give me|write out|summari[sz]e)\b[^.!?\n]{0,20}\b(?:your|the|its) (?:entire |full |"
    r"whole |initial |hidden |secret |original |exact |complete )*(?:system (?:prompt|message|"
    r"instructions?)|developer (?:prompt|message)|hidden (?:prompt|instructions?)|initial "
    r"(?:prompt|instructions?)|api[ _-]?keys?|bot token)",
    "false role": r"(?:^|\n)\W{0,8}(?:system|developer|admin|administrator)(?: (?:message|prompt|"
    r"override|notice|instructions?|update|command))?\W{0,4}[:>\]][^\n]{0,80}?\b(?:you (?:are|must|"
    r"will|should|may|can)|your|ignore|obey|assistant|must|do not|execute|call|delete|from now|"
    r"tools?"
    r"|comply|user)\b",
    "false turn": r"(?:<\|?(?:im_start|start_header_id|system|start)\|?>\s*(?:<\|?\w+\|?>)?\s*"
    r"(?:system|developer|assistant)|<<sys>>|<start_of_turn>\s*(?:model|system|developer)|"
    r"<\|system\|>|\[system_prompt\]|<system>|\[/?inst\])",
    "false end": r"\b(?:end of|end) (?:the )?(?:system |user |page |web ?page |tool )?(?:prompt|"
    r"document|page|input|content|data|result|context|output|instructions)\b[^a-z]{0,12}"
    r"(?:begin|start|new|system|now|the (?:assistant|user)|assistant|actual|real)\b",
    "new instructions": r"\b(?:new|updated|revised|real|actual|true|hidden|secret|urgent|priority|"
    r"additional) (?:system |assistant |ai |operator |developer )(?:instructions?|prompt|directive|"
    r"rules?|policy|orders?|tasks?)\s*[:—-]|\b(?:new|updated|revised|real|actual) (?:instructions?|"
    r"directives?|orders?) (?:for (?:you|the (?:assistant|ai|model|bot))|from (?:the|"
    r"your) (?:admin|"
    r"developer|system|operator|owner|user))",
    "your new task": r"\byour (?:new|real|actual|true|next|only|updated|primary) (?:task|goal|"
    r"objective|job|mission|instruction|purpose|role|directive)s? (?:is|are|will be|now)\b",
    "instead of the task": r"\b(?:instead of|stop|rather than|before|"
    r"do not) (?:summari[sz](?:e|ing)|"
    r"answer(?:ing)?|helping)[^.!?\n]{0,50}[,;]? (?:say|reply|respond|call|send|write|output|"
    r"delete|"
    r"post|tell|run|execute|and (?:say|reply|send|run|call|delete))\b",
    "claims authority": r"\b(?:user|admin|administrator|owner|operator|developer|"
    r"moderator)s? (?:has|"
    r"have) (?:already |now |explicitly )?(?:authori[sz]ed|approved|instructed|permitted|asked|"
    r"granted|consented to|given (?:you )?(?:permission|consent))\b[^.!?\n]{0,30}\b(?:you|this "
    r"action|this request|all (?:tool|action|request)|the deletion|any (?:tool|action))",
    "commands by rank": r"\bas (?:the|your) (?:admin|administrator|developer|owner|creator|"
    r"operator)"
    r",? i (?:order|command|instruct|authori[sz]e|require|direct) you",
    "lifts safety": r"\b(?:safety|content|security|moderation|permission)s? (?:filters?|"
    r"guidelines?|"
    r"restrictions?|polic(?:y|ies)|checks?|protocols?|rules?) (?:are|is|have been|has been|were) "
    r"(?:now |temporarily )?(?:disabled|off|lifted|suspended|bypassed|removed|waived)",
    "asks to lift safety": r"\b(?:bypass|disable|ignore|evade|turn off|circumvent) (?:your|all|any)"
    r"(?: of your)? (?:safety|security|content|moderation|ethical)? ?(?:restrictions|filters?|"
    r"guidelines|checks|safeguards|limitations|guardrails)",
    "orders deletion": r"\b(?:you must|now|immediately|please|silently|assistant[:,]?) (?:delete|"
    r"remove|forget|erase|wipe|ban|kick|purge)\b[^.!?\n]{0,30}\b(?:all|every|everything|each)\b"
    r"[^.!?\n]{0,30}\b(?:memor|facts?|messages|channels|members|reminders|files|roles|users|data)",
    "de": r"\b(?:ignorier\w*|(?:vergiss|vergesst)(?! nicht)|missachte\w*|beachte\w*"
    r" (?:\w+ ){0,3}nicht)"
    r"[^.!?\n]{0,60}(?:anweisung|instruktion|vorgabe|befehl|systemprompt|regeln)"
    r"|\b(?:hinweis|nachricht|anweisung|achtung|wichtig)\w*\W{1,3}(?:an |für )?(?:die |den |"
    r"alle |das"
    r" )?(?:ki|ki-\w+|sprachmodelle?|chatbots?|assistent\w*)\b\W{0,3}[:,]"
    r"|\b(?:sag|sage|verrate|erzähl\w*|erwähne)\b[^.!?\n]{0,30}(?:nutzer|benutzer|anwender|"
    r"mitglied)"
    r"[^.!?\n]{0,20}\b(?:nicht|nichts)\b"
    r"|\bdu bist (?:jetzt|ab sofort|nun) (?:ein\w* )?(?:anderer|neue\w*|uneingeschränkt\w*|"
    r"unzensiert\w*|ki)\b|\bab (?:jetzt|sofort) (?:antwortest|musst|wirst|befolgst|sollst) du\b"
    r"|\b(?:sende|schick\w*|poste|leite)\b[^.!?\n]{0,60}(?:gesprächsverlauf|chatverlauf|"
    r"systemprompt"
    r"|passw\w+|api-schlüssel|geheimnisse)",
    "fr": r"\b(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)|ne (?:tiens|tenez) pas compte|fai(?:s|tes) "
    r"abstraction)\b[^.!?\n]{0,60}(?:instructions|consignes|règles|directives|ordres)"
    r"|\bà partir de maintenant,? (?:tu|vous) (?:es|êtes|dois|devez|réponds|répondez|obéis)\b"
    r"|\bne (?:le |la |les |lui )?(?:dis|dites|révèle|révélez|mentionne|mentionnez)[^.!?\n]{0,30}"
    r"utilisateur|\b(?:envoie|envoyez|transmets|transmettez|publie)\b[^.!?\n]{0,60}(?:conversation|"
    r"mots? de passe|prompt système|clés? api)",
    "es": r"\b(?:ignor[ae]|ignoren?|(?<!no )olviden?|(?<!no )olvid[ae]|descart[ae]|ha[zg]\w*"
    r" caso omiso)\b"
    r"[^.!?\n]{0,60}(?:instrucciones|indicaciones|reglas|órdenes|directrices)"
    r"|\ba partir de ahora,? (?:eres|debes|responde|obedece|actúa)"
    r"|\bno (?:se )?(?:lo )?(?:digas|reveles|menciones)[^.!?\n]{0,30}usuario"
    r"|\b(?:envía|manda|reenvía|publica)\b[^.!?\n]{0,60}(?:conversación|contraseñas?|prompt del "
    r"sistema|claves? api)",
    "it": r"\b(?:ignora|ignorate|dimentica|dimenticate|trascura|non seguire)\b[^.!?\n]{0,60}"
    r"(?:istruzioni|regole|indicazioni|direttive|ordini)|\bda (?:ora|adesso) in poi,? (?:sei|devi|"
    r"rispondi|obbedisci)|\bnon (?:dirlo|dire|rivelare|menzionare)[^.!?\n]{0,30}utente",
    "pt": r"\b(?:ignore|ignora|ignorem|(?<!não )esqueça|(?<!não )esquece|"
    r"desconsidere)\b[^.!?\n]{0,60}(?:instruções|"
    r"regras|orientações|ordens|diretrizes)|\ba partir de agora,? (?:você|tu) (?:é|deve|és|vai|"
    r"responde)|\bnão (?:conte|diga|revele|mencione)[^.!?\n]{0,30}(?:usuário|utilizador)",
    "nl": r"\b(?:negeer|vergeet)\b(?! niet)[^.!?\n]{0,60}(?:instructies|aanwijzingen|regels|"
    r"opdrachten)"
    r"|\bvanaf nu (?:ben|moet|zul|antwoord) (?:je|jij|u)\b|\b(?:vertel|zeg)[^.!?\n]{0,30}gebruiker "
    r"(?:niet|niets)",
    "nordic": r"\b(?:ignorera|ignorer|(?:glöm|glem)(?! inte| ikke)|bortse från|"
    r"se bort fra)\b[^.!?\n]{0,60}"
    r"(?:instruktioner|instrukser|anvisningar|anvisninger|regler)",
    "pl": r"\b(?:z?ignoruj|(?<!nie )zapomnij|pomiń)\b[^.!?\n]{0,60}(?:instrukcj|poleceni|zasad|"
    r"wytyczn)"
    r"|\bod teraz (?:jesteś|musisz|odpowiadaj)|\bnie mów (?:o tym )?użytkownik",
    "ru and uk": r"\b(?:про)?(?:игнориру\w*|ігнору\w*)[^.!?\n]{0,60}(?:инструкци|указани|правил|"
    r"команд|вказівк|інструкці)|\b(?<!не )(?:забудь|забудьте)[^.!?\n]{0,60}(?:инструкци|"
    r"указани|правил|"
    r"команд|вказівк|інструкці)|\b(?:с этого момента|отныне|теперь) (?:ты|вы) (?:должн|являе|"
    r"отвеча)"
    r"|\bне (?:говори|сообщай|рассказывай)\w*[^.!?\n]{0,30}пользовател"
    r"|\b(?:отправь|перешли|отправьте)[^.!?\n]{0,60}(?:переписк|парол|историю чата|ключ)",
    "tr": r"(?:önceki|yukarıdaki|tüm|bütün)[^.!?\n]{0,40}(?:talimat|komut|kural|yönerge)\w*"
    r"[^.!?\n]{0,20}(?:yok say|görmezden gel|unut(?!ma)|dikkate alma)",
    "ar": r"(?:تجاهل|انس|انسى|تجاهلوا)[^.!?\n]{0,40}(?:التعليمات|تعليمات|الأوامر|القواعد|"
    r"الإرشادات)",
    "fa": r"(?:دستور|دستورات|قوانین|دستورالعمل)[^.!?\n]{0,40}(?:نادیده بگیر|فراموش کن)",
    "hi": r"(?:निर्देश|नियम|आदेश)[^.!?\n।]{0,30}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|(?<!न )भूल)",
    "zh": r"(?:忽略|无视|無視|忽视|忽視|(?<!不要)(?<!别)(?<!勿)(?:忘记|忘記|忘掉)|不要理会|"
    r"不要遵守)[^。！？!?\n]{0,16}"
    r"(?:指令|指示|提示词|提示|规则|規則|说明|說明|要求|命令|设定)|从现在(?:开始|"
    r"起)[,，]?你(?:是|必须|要|将)"
    r"|從現在(?:開始|起)[,，]?你(?:是|必須|要|將)|不要(?:告诉|告訴|"
    r"让)[^。！？!?\n]{0,6}(?:用户|用戶|使用者)"
    r"|(?:发送|發送|上传|转发)[^。！？!?\n]{0,16}(?:聊天记录|对话|密码|系统提示|密钥)",
    "ja": r"(?:以前|これまで|今まで|上記|前|すべて|全て|システム)[^。！？!?\n]{0,12}(?:指示|"
    r"命令|ルール|"
    r"プロンプト|指令)[^。！？!?\n]{0,8}(?:無視|忘れ(?!ず|な)|従わな)|(?:今|これ)から(?:あなた|"
    r"君)は"
    r"|(?:ユーザー|利用者)に(?:は)?[^。！？!?\n]{0,10}(?:知らせ|言わ|伝え|教え)(?:ない|ず)",
    "ko": r"(?:이전|위의|앞의|지금까지|모든|기존)[^.!?\n]{0,14}(?:지시|명령|규칙|프롬프트|지침)"
    r"[^.!?\n]{0,10}(?:무시|잊(?!지)|따르지)|(?:지금|이제)부터 (?:당신|너)(?:은|는)"
    r"|사용자에게[^.!?\n]{0,12}(?:알리지|말하지)",
    "vi": r"\b(?:bỏ qua|phớt lờ|(?<!đừng )(?<!không )quên)\b[^.!?\n]{0,40}(?:hướng dẫn|chỉ dẫn|"
    r"chỉ thị|quy tắc|lệnh)",
    "id": r"\b(?<!jangan )(?:abaikan|lupakan)\b[^.!?\n]{0,40}(?:instruksi|perintah|aturan|"
    r"petunjuk)",
}

_COMPILED = {
    name: re.compile(unicodedata.normalize("NFKC", pattern)) for name, pattern in _PATTERNS.items()
}


def instructions_in(text: str) -> str:
    """Which kind of instruction to a model `text` holds, in a word or two for a log; empty if it
    reads like information."""
    plain = _normalised(text[:_LONGEST])
    return next((name for name, pattern in _COMPILED.items() if pattern.search(plain)), "")


def _normalised(text: str) -> str:
    """One spelling for what looks alike: letters by compatibility, without case, invisible
    characters, quotes and emphasis; hidden tag characters become the letters that they spell."""
    text = "".join(chr(ord(c) - 0xE0000) if ord(c) in _HIDDEN_TAGS else c for c in text)
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).lower()
    text = text.replace("i̇", "i").translate(_MARKUP)
    # Blanks first: a pattern that begins with any number of them would try each one anew.
    return re.sub(r" ?\n[ \n]*", "\n", re.sub(r"[^\S\n]+", " ", text))
