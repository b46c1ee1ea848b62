"""Words that stand in so many texts that one of them in common tells little.

Invariant: unlike stop words (see stop_words) they are searched for, since each may be what a
question is after. They only weigh less where it is told whether two texts speak of the same.
"""

_ENGLISH = """able about ability actual add age ago agree allow amount answer appear area ask asked
available away back bad based basic become begin believe best better big bit book bring build
busy buy call called care case certain change check choose city clear close come common company
complete consider contain continue correct cost country course create current cut date day deal
decide detail different difference difficult direct easy effect end english enough entire entry
example expect experience fact fail fair fall family far fast feel few find fine first follow form
found free french friend full future general german get go good great ground group grow guess half
hand happen hard hear heard high hold home hope hour house idea image important include info
information interesting issue item job keep kind large last late later lead learn leave left less
let level life light like limit line list little live local long look lose lot low main make made
mean mention message minute moment money month morning move name near next nice night normal note
number offer often okay old open option order page paper part past pay people perfect person pick
place plan play point possible power present problem provide put question quite read ready real
reason receive recommend remember request require response rest result return right room rule run
said search second see seem send sense serve server service set several short side similar simple
single site size small soon sort source speak special specific stand start state stay step stop
story stuff subject suggest support suppose sure system take talk talked task term test thing think
thought time today tomorrow tonight top total translate true try turn type understand usual use
user various version view visit wait walk water way week welcome well whole word work world worth
write written wrong year yesterday young"""

_GERMAN = """allgemein alt angabe anfang antwort arbeit art aufgabe beginn beispiel bekannt besser
beste bleiben brauchen bringen dank datum denken deutsch direkt einfach eigentlich ende englisch
erst fall falsch fertig finden folgen fragen frage frau frei freund früh ganz geben gehen gehören
geld genau genug gern gerne gleich groß grund gruppe gut halten hand haus heißen heute helfen hilfe
hoch hören idee immer information jahr klar klein kommen kosten kurz lang lange lassen leben leicht
leider lesen letzte leute liegen link liste machen mann meinen meist melden mensch minute möglich
monat morgen nachricht nächste nacht name nehmen nennen neu normal nummer nutzen öffnen offen ort
person platz problem punkt recht richtig sache sagen schnell schon schreiben schön sehen seite
sicher spät spielen sprechen stadt stehen stelle stunde suchen tag teil text thema tun übersetze
uhr verstehen versuchen vielleicht voll wahr wasser weg weiter welt wenig wert wichtig wissen woche
wort wunsch zahl zeigen zeit ziel zimmer"""

_FRENCH = """aller an année appeler ancien arriver attendre besoin bien bon chercher chose
commencer comprendre connaître côté demander demain dernier devoir dire donner exemple façon fin
français grand heure homme idée information jour laisser lieu lire long maintenant matin même
mettre moment monde mot mois nom nombre nouveau nuit page part parler partie passer penser petit
personne pouvoir premier prendre problème question raison réponse rester savoir semaine service
suivre temps tenir travail trouver utiliser venir vie ville voir vouloir vrai"""

_SPANISH = """ahora año antes ayer bien bueno buscar caso ciudad comenzar conocer cosa creer dar
deber decir dejar día ejemplo empezar encontrar entender español forma gente gracias gran grande
hablar hombre hora hoy idea información largo leer libro lugar llamar llegar llevar luego mañana
mejor mes momento mundo necesitar noche nombre nuevo número página palabra parte pasar pensar
pequeño persona pedir poder poner pregunta primero problema querer razón responder respuesta saber
seguir semana servicio siguiente tarde tema tiempo todo tomar trabajo usar venir ver verdad vez
vida vivir volver"""

WORDS = frozenset(" ".join((_ENGLISH, _GERMAN, _FRENCH, _SPANISH)).split())
