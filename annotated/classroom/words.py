"""Words of the classroom grammar other than nouns: adjectives, verbs, names, cities, adverbs."""

# ruff: noqa: E501  (one word a line)

ADJECTIVES = """
old alt älter : bus tree person family animal flat standing bag device furniture vehicle clothes room spot opening path bulb flower story outdoor
young jung jünger : person family animal
big groß größer : animal standing bag device furniture vehicle fruit food room spot opening path bulb flower outdoor
tall groß größer : person family tree
small klein kleiner : person animal flat standing bag device furniture vehicle clothes fruit food room opening path bulb flower outdoor
friendly freundlich freundlicher : person family animal
clever klug klüger : person family animal
strong stark stärker : person animal
poor arm ärmer : person family
rich reich reicher : person family
famous berühmt berühmter : person
polite höflich höflicher : person
lazy faul fauler : person animal
tired müde müder : person animal family
hungry hungrig hungriger : animal person
sad traurig trauriger : person
black schwarz - : animal standing bag vehicle clothes flat
white weiß - : animal standing device furniture vehicle clothes opening
brown braun - : animal bag furniture clothes
wild wild wilder : animal
fast schnell schneller : animal vehicle
new neu neuer : bus flat standing bag device furniture vehicle clothes room bulb opening
red rot - : bus standing bag vehicle clothes flat furniture bulb flower
blue blau - : standing bag vehicle clothes flat furniture opening
green grün - : standing bag vehicle clothes flat furniture opening
yellow gelb - : bus clothes vehicle flower flat
expensive teuer teurer teur : flat standing bag device furniture vehicle clothes bulb
cheap billig billiger : flat standing bag device furniture vehicle clothes
beautiful schön schöner : flat standing furniture clothes room spot path story bulb flower outdoor
heavy schwer schwerer : bag furniture
light leicht leichter : bag
light hell heller : room
dark dunkel dunkler dunkl : room
warm warm wärmer : clothes soup drink
cold kalt kälter : soup drink room
hot heiß heißer : soup drink
quiet ruhig ruhiger : room path outdoor
sweet süß süßer : fruit
ripe reif reifer : fruit
fresh frisch frischer : fruit food
long lang länger : clothes path story
short kurz kürzer : clothes path story
wide breit breiter : path opening
difficult schwierig schwieriger : story
interesting interessant interessanter : story
empty leer leerer : standing bag
broken kaputt - : device
"""
"""English, German, German comparative ('-' for none), the stem before an ending where it differs, and the classes."""

VERBS = """
sleep slept | schlafen er=schläft part=geschlafen | person family animal
laugh | lachen | person family
cry | weinen | person family
work | arbeiten | person family
dance | tanzen | person family
sing sang | singen part=gesungen | person family
wait | warten | person family
play | spielen | person family animal
get_+up got | aufstehen part=aufgestanden sein pre=auf | person family
fall_=asleep fell | einschlafen er=einschläft part=eingeschlafen sein pre=ein | person family animal
wake_=up woke | aufwachen pre=auf sein | person family animal
arrive | ankommen part=angekommen sein pre=an | person family
come_=back came | zurückkommen part=zurückgekommen sein pre=zurück | person family animal
run_=away ran | weglaufen er=wegläuft part=weggelaufen sein pre=weg | person animal
go_=out went | ausgehen part=ausgegangen sein pre=aus | person family
buy bought | kaufen | person family | acc flat standing bag device furniture vehicle clothes fruit food drink bulb flower
sell sold | verkaufen | person family | acc flat standing bag device furniture vehicle clothes fruit food bulb flower
find found | finden part=gefunden | person family animal | acc flat bag clothes fruit person animal bulb
lose lost | verlieren part=verloren | person family | acc flat bag clothes
look_=for | suchen | person family animal | acc person family animal flat bag clothes bulb
need | brauchen pret=brauchte | person family | acc flat standing bag device furniture vehicle clothes bulb
repair | reparieren | person family | acc device furniture vehicle opening
see saw | sehen er=sieht part=gesehen | person family animal | acc person family animal flat standing bag vehicle clothes room outdoor spot path bulb flower tree
carry | tragen er=trägt part=getragen | person family | acc bag standing furniture
wash | waschen er=wäscht part=gewaschen | person family | acc clothes vehicle standing fruit
clean | putzen | person family | acc room opening furniture vehicle
have had | haben er=hat pret=hatte | person family | acc animal flat bag device vehicle clothes bulb
open | aufmachen pre=auf | person family | acc opening bag
close | zumachen pre=zu | person family | acc opening bag
pick_+up | aufheben part=aufgehoben pre=auf | person family | acc flat bag clothes fruit
pick_+up | abholen pre=ab | person family | acc person family
throw_+away threw | wegwerfen er=wegwirft part=weggeworfen pre=weg | person family | acc flat clothes food fruit bag
take_+along took | mitnehmen er=mitnimmt part=mitgenommen pre=mit | person family | acc flat bag clothes animal bulb
bring_+along brought | mitbringen part=mitgebracht pre=mit | person family | acc flat standing food fruit animal family bulb flower drink
bring_+back brought | zurückbringen part=zurückgebracht pre=zurück | person family | acc flat bag vehicle clothes animal
turn_+on | anmachen pre=an | person family | acc device
turn_+off | ausmachen pre=aus | person family | acc device
put_+on put | anziehen part=angezogen pre=an | person family | acc clothes
take_+off took | ausziehen part=ausgezogen pre=aus | person family | acc clothes
call | anrufen part=angerufen pre=an | person family | acc person family
invite | einladen er=einlädt part=eingeladen pre=ein | person family | acc person family
look_=at | ansehen er=ansieht part=angesehen pre=an | person family | acc flat person animal clothes vehicle room outdoor bulb flower
visit | besuchen | person family | acc person family room outdoor
meet met | treffen er=trifft part=getroffen | person family | acc person family
love | lieben | person family | acc person family animal
hear heard | hören | person family animal | acc person family animal
understand understood | verstehen part=verstanden | person family | acc person family story
greet | grüßen | person family | acc person family
know knew | kennen pret=kannte | person family | acc person family room outdoor story spot
ask | fragen | person family | acc person family
read read | lesen er=liest part=gelesen | person family | acc book story
write wrote | schreiben part=geschrieben | person family | acc letter
like | mögen er=mag pret=mochte | person family | acc person family animal fruit food soup drink room outdoor flower
plant | pflanzen | person family | acc tree flower
cook | kochen | person family | acc soup
order | bestellen | person family | acc soup drink
eat ate | essen er=isst part=gegessen | person family | acc fruit food soup
eat ate | fressen er=frisst part=gefressen | animal | acc fruit food
drink drank | trinken part=getrunken | person family | acc drink
help | helfen er=hilft part=geholfen | person family | dat person family animal
thank | danken | person family | dat person family
follow | folgen sein | person family animal | dat person family animal
answer | antworten | person family | dat person family
listen_=to | zuhören pre=zu | person family | dat person family
trust | vertrauen | person family | dat person family
give gave | geben er=gibt part=gegeben | person family | dat+acc person family + flat bag clothes fruit food bulb flower
show showed | zeigen | person family | dat+acc person family + flat clothes room outdoor vehicle animal bulb flower
send sent | schicken | person family | dat+acc person family + flat bag flower bulb
bring brought | bringen part=gebracht | person family | dat+acc person family + flat standing bag food fruit drink
lend lent | leihen part=geliehen | person family | dat+acc person family + flat bag vehicle clothes
wait | warten | person family | auf:for:acc person family bus
think thought | denken part=gedacht | person family | an:of:acc person family room outdoor
speak spoke | sprechen er=spricht part=gesprochen | person family | mit:with:dat person family
laugh | lachen | person family | über:at:acc person animal story
talk | reden | person family | über:about:acc person family vehicle room outdoor story
play | spielen | person family | mit:with:dat animal ball family
dance | tanzen | person family | mit:with:dat person family
"""
"""English base (_+ movable particle, _= fixed particle) and irregular past | German | subject classes | objects."""

GO = """
go went | gehen part=gegangen sein
run ran | laufen er=läuft part=gelaufen sein
come came | kommen part=gekommen sein
go went | fahren er=fährt part=gefahren sein
travel travelled | reisen sein
"""

FEMALE = "Anna Maria Clara Emma Julia Laura Sophie Hanna Nina Eva Lena Greta Paula Ida".split()
MALE = "Tom Peter Paul Jonas David Simon Leon Finn Emil Anton Jan Martin Oskar Karl".split()
SURNAMES = "Braun Weber Klein Schmidt Fischer Wagner Becker Hoffmann Koch Richter Wolf Neumann Schwarz Krüger".split()
CITIES = [("Berlin", "Berlin"), ("Hamburg", "Hamburg"), ("London", "London"), ("Paris", "Paris"), ("Rome", "Rom"),
          ("Munich", "München"), ("Vienna", "Wien"), ("Cologne", "Köln"), ("Prague", "Prag"), ("Zurich", "Zürich"),
          ("Dresden", "Dresden"), ("Warsaw", "Warschau")]  # fmt: skip

# English, German, the tenses that each fits (p present, a past (perfect), f future and modal verbs), and the tree
# of the English: labels and parts of speech, its words left out.
TIMES = """
today | heute | paf | (NP NN)
now | jetzt | pf | (ADVP RB)
every day | jeden Tag | pf | (NP DT NN)
every morning | jeden Morgen | p | (NP DT NN)
every evening | jeden Abend | pf | (NP DT NN)
this evening | heute Abend | pf | (NP DT NN)
this morning | heute Morgen | a | (NP DT NN)
yesterday | gestern | a | (NP NN)
yesterday evening | gestern Abend | a | (NP NN NN)
last week | letzte Woche | a | (NP JJ NN)
last year | letztes Jahr | a | (NP JJ NN)
two days ago | vor zwei Tagen | a | (ADVP (NP CD NNS) RB)
a week ago | vor einer Woche | a | (ADVP (NP DT NN) RB)
tomorrow | morgen | f | (NP NN)
tomorrow evening | morgen Abend | f | (NP NN NN)
next week | nächste Woche | f | (NP JJ NN)
in the morning | am Morgen | paf | (PP IN (NP DT NN))
in the evening | am Abend | paf | (PP IN (NP DT NN))
at noon | am Mittag | paf | (PP IN (NP NN))
at the weekend | am Wochenende | paf | (PP IN (NP DT NN))
on Monday | am Montag | paf | (PP IN (NP NNP))
on Tuesday | am Dienstag | paf | (PP IN (NP NNP))
on Wednesday | am Mittwoch | paf | (PP IN (NP NNP))
on Thursday | am Donnerstag | paf | (PP IN (NP NNP))
on Friday | am Freitag | paf | (PP IN (NP NNP))
on Saturday | am Samstag | paf | (PP IN (NP NNP))
on Sunday | am Sonntag | paf | (PP IN (NP NNP))
in summer | im Sommer | pa | (PP IN (NP NN))
in winter | im Winter | pa | (PP IN (NP NN))
"""
MONTHS = "January Januar February Februar March März April April May Mai June Juni July Juli August August September \
September October Oktober November November December Dezember".split()
FREQUENCY = [("often", "oft"), ("always", "immer"), ("sometimes", "manchmal"), ("never", "nie"), ("rarely", "selten")]
