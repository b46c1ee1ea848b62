"""Words that say nothing about what a question is after, in the languages that are asked most.

Invariant: lower case, as the index folds words. Being short is no reason to be here, and words
that carry the meaning of some question are not: only articles, pronouns, particles, auxiliaries,
question words, and the words with which a summary is asked for.
"""

_ENGLISH = """a about all also am an and any anyone anything are aren as at be because been being
both but by can cannot could couldn d did didn do does doesn doing don each either else ever
every everyone everything few for from further get gets got had hadn has hasn have haven having
he her here hers him his how however i if in into is isn it its itself just let ll m many may
maybe me might mine more most much must my myself no nor not of off on once one only or other our
ours out over own please quite rather re really s same say says shall she should shouldn so some
somebody someone something still such sure t than that the their theirs them themselves then
there these they this those though through to together too until up upon us ve very was wasn we
were weren what whatever when where whether which while who whom whose why will with within
without won would wouldn yes yet you your yours"""

_GERMAN = """aber alle allem allen aller alles als also am an andere anderen auch auf aus bei
beim bin bis bist bitte da dabei dadurch dafür damit dann daran darauf daraus darf darin darüber
darum das dass dazu dein deine dem den denn der deren des dich die dies diese diesem diesen
dieser dieses dir doch dort drin drinnen du durch ein eine einem einen einer eines er es etwa
etwas euch euer für gegen gibt hab habe haben hast hat hatte hatten hier hin ich ihm ihn ihnen
ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt kann kannst kein
keine keinen können könnt könnte mal man mein meine mich mir mit muss müssen nach nicht noch nun
nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so soll sollen sollte
sondern sonst um und uns unser unsere unter viel vom von vor wann war waren warum was wegen weil
welche welchem welchen welcher welches wenn wer werde werden wie wieder wieso will wir wird wo
wodurch woher wohin wollen womit worden worum wovon wurde wurden zu zum zur zwar zwischen über"""

_FRENCH = """ai as au aucun aussi autre aux avait avec avez avoir avons c ce ceci cela ces cet
cette ceux chaque ci combien comme comment d dans de des donc dont du elle elles en es est et eu
eux faire fait faut ici il ils j je l la le les leur leurs lui là ma mais me mes moi mon même n
ne ni nos notre nous on ont ou où par parce pas peut peux plus pour pourquoi pouvez qu quand que
quel quelle quelles quels qui quoi sa sans se sera ses si soit son sont sous suis sur ta te tes
toi ton tous tout toute toutes tu un une vers veux vos votre vous y à été être"""

_SPANISH = """a al algo algunas algunos ante antes aquel aquella aquí así aunque cada como con
contra cual cuales cualquier cuando cuál cuáles cuándo cuánta cuánto cuántos cómo de del desde
donde dónde e el ella ellas ellos en entre era es esa ese eso esos esta estaba estas este esto
estos está están fue ha hace hacer han hasta hay he la las le les lo los me mi mis muy más mí
nada ni no nos nosotros o os otra otras otro otros para pero por porque pues puede pueden puedo
que quien quién qué se sea ser si sin sobre solo son su sus sí también tan te tiene tienen tu tus
tú un una uno unos y ya yo"""

_PORTUGUESE = """à ao aos aquele até com cujo da das dela dele depois do dos ela elas ele eles em
então era essa esse esta estava este está estão eu foi foram há isso isto já lhe mais mas me
mesmo meu minha muito na nas no nos não nós num numa onde os ou para pela pelas pelo pelos pode
podem pois porque por quais qual quando quanto que quem são se seja sem ser seu seus sua suas só
também tem têm um uma você vocês"""

_ITALIAN = """ad agli ai al alla alle allo anche c che chi ci come con cosa cui da dai dal dalla
dalle degli dei del della delle dello di dove e ed era essere fa fra gli ha hai hanno ho i il in
io l la le lei li lo loro lui ma mi mia mio ne negli nei nel nella nelle noi non o ogni per
perché più po può quale quali quando quanto quanti quella quelle quello questa queste questi
questo qui se sei si sia siamo sono su sua sue sugli sui sul sulla suo te ti tra tu tutti tutto
un una uno vi voi è"""

_DUTCH = """aan al alle als bij dat de deze die dit doe door dus een en er ge geen haar had
hebben heb hebt heeft hem het hier hij hoe hoeveel hun ik in is je jij jou jullie kan kunnen kunt
maar me meer men met mij mijn moet moeten na naar niet nog nu of om ons onze ook op over te toch
toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we welk welke wel werd wie
wij wil wordt worden zal ze zelf zich zij zijn zo zou"""

_SWEDISH = """att av de dem den denna deras dess det detta dig din dina du där efter ej eller en
er ert ett finns från få för ha hade han har hon hur här i icke ingen inte jag ju kan kunde man
med mellan men mig min mina mot mycket ni nu när och om oss på sedan sig sin sina ska skulle som
så till upp ut vad var vara varför vart vem vi vid vilka vilken vilket vår våra än är åt över"""

_POLISH = """aby albo ale bez był była było były być bardzo ci co czy czyli dla do dlaczego gdy
gdzie go ich ile im inne ja jak jaka jakie jako jaki je jego jej jest jeszcze jeśli już każdy
kiedy kto która które który ma mam mi mnie mogę może można mój my na nad nam nas nie niż o od on
ona one oni oraz po pod przed przez przy się są ta tak tam te tego tej ten to tu tych tylko tym
ty w we wszystko z za ze że"""

_RUSSIAN = """а бы был была были было быть в вам вас весь во вот все всё вы где да для до его ее
её если есть еще ещё ею же за и из или им их к как какая какие какой ко когда кого кто ли либо
мне может можно мой мы на надо над нам нас не него нее неё нет ни них но ну о об он она они оно
от очень по под почему при про с сам свой сколько со так также такой там те тем то того тоже той
только том ты у уже хотя чего чей чем что чтобы чём чему эта эти это этот я"""

_TURKISH = """acaba ama ancak bana bazı ben beni benim bir biri biz bu bunu bunun da daha de
değil diye en gibi hangi hem hep her hiç için ile ise kaç kadar ki kim mi mu mı mü nasıl ne neden
nerede niye o olan olarak olur ona onlar onu onun sen şey şu ve veya ya var yok çok"""

_KOREAN = """그 그것 그것은 그것을 그게 그리고 나 나는 내 내가 너 누가 누구 대해 대해서 대한 또는
무슨 무엇 무엇을 무엇이 뭐 뭐가 뭐야 뭘 및 수 수가 알려줘 알려주세요 어느 어디 어디서 어디에
어디에서 어떤 어떻게 언제 얼마나 왜 우리 은 는 이 가 을 를 의 에 에서 이거 이것 이것은 이것을
이게 이건 있나요 있어 있어요 있습니까 저 저것 제 제가 좀 줘 주세요 해줘 해주세요 말해줘
말해주세요 설명해줘 설명해주세요 문서 문서는 문서를 문서의 문서에 파일 파일은 파일을 파일의 내용
내용은 내용을 내용이 글 글을 전부 모두"""

_SUMMING = """abstract content contents context document documents file files gist outline
overview recap summaries summarise summarised summarize summarized summarizing summary tldr
beschreib beschreibe beschreiben dokument dokumente datei dateien fass fasse inhalt überblick
übersicht zusammen zusammenfassen zusammenfassung aperçu contenu fichier résume résumer résumé
archivo contenido documento documentos resume resumen resumir conteúdo resuma resumo arquivo
contenuto riassumi riassunto riassumere samenvatten samenvatting inhoud bestand sammanfatta
sammanfattning innehåll filen dokumentet streść podsumuj podsumowanie dokument plik резюме
документ файл содержание перескажи суммируй özetle özet belge dosya 문서 문서를 문서의 파일
파일을 내용 내용을 내용이"""

_ASKING = """brief briefly describe explain knowledge question quick short shortly tell text
everything show give know want need help erklär erkläre erklären kurz zeig zeige sag erzähl décris
explique dis texte describe explica texto dime descreva explique descrivi spiega testo beschrijf
vat leg vertel beskriv opisz кратко опиши расскажи объясни trata trate açıkla"""

_SUMMING_PHRASES = """要約 まとめ 概要 内容 文書 ドキュメント ファイル 总结 總結 概括 摘要 概述
文件 文档 文檔 內容 สรุป"""

_PHRASES = """要約 要約して まとめて まとめ 概要 教えて ください 下さい 説明 説明して について
とは ですか ますか でした です ます どこ どの どんな どう なぜ いつ だれ 誰 何 なに いくつ
いくら これ それ この その ドキュメント 文書 内容 ファイル 总结 總結 总结一下 概括 摘要 概述
介绍 介紹 一下 什么 甚麼 什麼 怎么 怎麼 如何 为什么 為什麼 哪里 哪裡 哪个 哪個 哪些 多少 几个
幾個 谁 誰 的 了 吗 嗎 呢 是 在 有 和 与 與 这个 這個 那个 那個 这 這 那 请 請 告诉我 告訴我 我
你 他 她 它 们 們 文件 文档 文檔 内容 內容 สรุป อะไร อย่างไร ที่ไหน เมื่อไร ทำไม คือ ของ และ
ที่ เป็น นี้"""

WORDS = frozenset(
    " ".join(
        (
            *(_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _PORTUGUESE, _ITALIAN, _DUTCH, _SWEDISH),
            *(_POLISH, _RUSSIAN, _TURKISH, _KOREAN, _SUMMING, _ASKING),
        )
    ).split()
)

UNSPACED_PHRASES = tuple(sorted(_PHRASES.split(), key=len, reverse=True))
"""The same for scripts without blank space, the longest first."""

SUMMING = frozenset(_SUMMING.split())
"""Those of the words with which an overview is asked for, or what it is to be of is named."""
SUMMING_PHRASES = tuple(_SUMMING_PHRASES.split())

LANGUAGES = tuple(
    frozenset(words.split())
    for words in (
        *(_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _PORTUGUESE, _ITALIAN, _DUTCH, _SWEDISH),
        *(_POLISH, _RUSSIAN, _TURKISH),
    )
)
"""The words of each language alone, most of which have nothing but them in common."""
