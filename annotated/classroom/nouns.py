"""The nouns of the classroom grammar, as text that a teacher can read and correct.

Nouns: English singular, English plural ('-' for none), German singular, gender, German plural ('-' for none), and
the genitive where it is not regular (ending in -n: a weak noun). The heading is the semantic class.
"""

# ruff: noqa: E501  (one word a line)

NOUNS = """
# person
man men Mann m Männer
woman women Frau f Frauen
child children Kind n Kinder
girl girls Mädchen n Mädchen
boy boys Junge m Jungen Jungen
farmer farmers Bauer m Bauern Bauern
doctor doctors Arzt m Ärzte
teacher teachers Lehrer m Lehrer
student students Student m Studenten Studenten
guest guests Gast m Gäste
neighbour neighbours Nachbar m Nachbarn Nachbarn
colleague colleagues Kollege m Kollegen Kollegen
baker bakers Bäcker m Bäcker
king kings König m Könige
queen queens Königin f Königinnen
waitress waitresses Kellnerin f Kellnerinnen
princess princesses Prinzessin f Prinzessinnen
policeman policemen Polizist m Polizisten Polizisten
judge judges Richter m Richter
nurse nurses Krankenschwester f Krankenschwestern
# family
mother mothers Mutter f Mütter
father fathers Vater m Väter
sister sisters Schwester f Schwestern
brother brothers Bruder m Brüder
son sons Sohn m Söhne
daughter daughters Tochter f Töchter
uncle uncles Onkel m Onkel
aunt aunts Tante f Tanten
grandmother grandmothers Großmutter f Großmütter
grandfather grandfathers Großvater m Großväter
friend friends Freund m Freunde
# animal
dog dogs Hund m Hunde
cat cats Katze f Katzen
horse horses Pferd n Pferde
cow cows Kuh f Kühe
bird birds Vogel m Vögel
mouse mice Maus f Mäuse
pig pigs Schwein n Schweine
duck ducks Ente f Enten
bear bears Bär m Bären Bären
lion lions Löwe m Löwen Löwen
fox foxes Fuchs m Füchse
goat goats Ziege f Ziegen
frog frogs Frosch m Frösche
hen hens Huhn n Hühner
rabbit rabbits Kaninchen n Kaninchen
# flat
book books Buch n Bücher
letter letters Brief m Briefe
newspaper newspapers Zeitung f Zeitungen
map maps Karte f Karten
key keys Schlüssel m Schlüssel
pen pens Stift m Stifte
knife knives Messer n Messer
spoon spoons Löffel m Löffel
blanket blankets Decke f Decken
ring rings Ring m Ringe
coin coins Münze f Münzen
telephone telephones Telefon n Telefone
# standing
bottle bottles Flasche f Flaschen
glass glasses Glas n Gläser
cup cups Tasse f Tassen
plate plates Teller m Teller
vase vases Vase f Vasen
bucket buckets Eimer m Eimer
basket baskets Korb m Körbe
# bag
bag bags Tasche f Taschen
box boxes Kiste f Kisten
suitcase suitcases Koffer m Koffer
parcel parcels Paket n Pakete
# device
lamp lamps Lampe f Lampen
radio radios Radio n Radios
computer computers Computer m Computer
television televisions Fernseher m Fernseher
machine machines Maschine f Maschinen
# furniture
table tables Tisch m Tische
chair chairs Stuhl m Stühle
bed beds Bett n Betten
cupboard cupboards Schrank m Schränke
shelf shelves Regal n Regale
sofa sofas Sofa n Sofas
# vehicle
car cars Auto n Autos
bicycle bicycles Fahrrad n Fahrräder
boat boats Boot n Boote
# bus
bus buses Bus m Busse Busses
# clothes
hat hats Hut m Hüte
coat coats Mantel m Mäntel
shirt shirts Hemd n Hemden
dress dresses Kleid n Kleider
shoe shoes Schuh m Schuhe
jacket jackets Jacke f Jacken
skirt skirts Rock m Röcke
scarf scarves Schal m Schals Schals
# fruit
apple apples Apfel m Äpfel
pear pears Birne f Birnen
plum plums Pflaume f Pflaumen
orange oranges Orange f Orangen
cherry cherries Kirsche f Kirschen
banana bananas Banane f Bananen
# food
cake cakes Kuchen m Kuchen
egg eggs Ei n Eier Eies
potato potatoes Kartoffel f Kartoffeln
tomato tomatoes Tomate f Tomaten
sausage sausages Wurst f Würste
carrot carrots Karotte f Karotten
roll rolls Brötchen n Brötchen
# soup
soup soups Suppe f Suppen
# drink
milk - Milch f -
water - Wasser n -
tea - Tee m -
coffee - Kaffee m -
juice - Saft m -
beer - Bier n -
wine - Wein m -
# room
kitchen kitchens Küche f Küchen
house houses Haus n Häuser
school schools Schule f Schulen
church churches Kirche f Kirchen
hotel hotels Hotel n Hotels
museum museums Museum n Museen
library libraries Bibliothek f Bibliotheken
office offices Büro n Büros
shop shops Laden m Läden
room rooms Zimmer n Zimmer
castle castles Schloss n Schlösser
hospital hospitals Krankenhaus n Krankenhäuser
# outdoor
garden gardens Garten m Gärten
park parks Park m Parks Parks
forest forests Wald m Wälder
village villages Dorf n Dörfer
city cities Stadt f Städte
# spot
station stations Bahnhof m Bahnhöfe
lake lakes See m Seen Sees
beach beaches Strand m Strände
river rivers Fluss m Flüsse
# opening
door doors Tür f Türen
window windows Fenster n Fenster
gate gates Tor n Tore
# path
street streets Straße f Straßen
bridge bridges Brücke f Brücken
square squares Platz m Plätze
field fields Feld n Felder
# story
story stories Geschichte f Geschichten
question questions Frage f Fragen
answer answers Antwort f Antworten
exercise exercises Übung f Übungen
# flower
flower flowers Blume f Blumen
rose roses Rose f Rosen
# tree
tree trees Baum m Bäume
# bulb
clock clocks Uhr f Uhren
picture pictures Bild n Bilder
present presents Geschenk n Geschenke
ball balls Ball m Bälle
umbrella umbrellas Regenschirm m Regenschirme
"""

COMPOUNDS = """
kitchen Küchen table chair cupboard lamp clock knife window door shelf
garden Garten table chair door gate lamp
school Schul book bag bus garden library door clock friend child
office Büro colleague chair table lamp door clock shelf
hotel Hotel room bed door key garden kitchen guest
city Stadt child park library museum church garden
village Dorf church school street museum shop doctor teacher policeman child
winter Winter coat shoe jacket hat
summer Sommer dress shoe house hat jacket
apple Apfel tree cake juice
plum Pflaumen tree cake juice
orange Orangen tree cake juice
cherry Kirsch tree cake juice
tomato Tomaten soup juice
potato Kartoffel soup field
carrot Karotten soup cake juice
coffee Kaffee cup table
tea Tee cup glass
wine Wein glass bottle
water Wasser glass bottle bucket
beer Bier glass bottle
flower Blumen vase basket shop garden field
house Haus key
car Auto key door window
bread Brot basket knife
"""
"""Modifier, its German form with the linking element, and the heads that it joins: Küche + n + Tisch."""
