// Words of the training trees without numbers and times, in small letters where they have them. Written by
// `python -m annotated_book.results.parsing.words`; a test holds the list to the treebank.
export const TRAINING_WORDS = `
  ! 's , . ? Anna Anton April August Becker Berlin Braun Clara Cologne David December Dresden Emil Emma Eva February Finn
  Fischer Friday Greta Hamburg Hanna Hoffmann How I Ida Jan January Jonas Julia July June Karl Klein Koch Krüger Laura Lena
  Leon London March Maria Martin Monday Mr. Mrs. Munich Neumann Nina November October Oskar Paris Paul Paula Peter Prague
  Richter Rome Saturday Schmidt Schwarz September Simon Sophie Sunday There Thursday Tom Tuesday Vienna Wagner Warsaw Weber
  Wednesday What Wolf Zurich a about account accounts ago along although always am an and angry answer answered answers
  apple apples are arrive arrived arrives as ask asked asks asleep at ate aunt aunts away back bag bags baker bakers ball
  balls banana bananas bank basket baskets bat bats be beach beaches bear bears beautiful because bed beds beer began begin
  begins behind believe believed believes bicycle bicycles big bigger bird birds black blanket blankets blue boat boats
  book books bottle bottles bought box boxes boy boys bread break breaks bridge bridges bring brings broke broken brother
  brothers brought brown brush brushes bucket buckets bus buses but buy buys cake cakes call called calls came camera
  cameras can car carried carries carrot carrots carry cars castle castles cat cats chair chairs cheap cheaper cherries
  cherry child children church churches cities city clean cleaned cleans clever cleverer clock clocks close closed closes
  coat coats coffee coin coins cold colder colleague colleagues come comes computer computers cook cooked cooks cost costs
  could cow cows cried cries cross cry cup cupboard cupboards cups cut cuts dance danced dances dangerous dark darker
  daughter daughters day days did difficult dirty do doctor doctors does dog dogs door doors drank drawer drawers dress
  dresses drink drinks duck ducks eat eats egg eggs eight eighteen eighty eighty-eight eighty-five eighty-four eighty-nine
  eighty-one eighty-seven eighty-six eighty-three eighty-two eleven emptier empty euros evening every exercise exercises
  expensive fall falls famous farmer farmers fast faster father fell fetch fetched fetches field fields fifteen fifty
  fifty-eight fifty-five fifty-four fifty-nine fifty-one fifty-seven fifty-six fifty-three fifty-two find finds five flower
  flowers follow followed follows for forest forests forget forgets forgot fork forks forty forty-eight forty-five
  forty-four forty-nine forty-one forty-seven forty-six forty-three forty-two found four fourteen fox foxes fresh fresher
  friend friendlier friendly friends frog frogs from front garden gardens gate gates gave get gets girl girls give gives
  glass glasses go goat goats goes got grandfather grandmother green greet greeted greets guest guests had hammer hammers
  handle handles happy has hat hats have he hear heard hears heavier heavy help helped helps hen hens her hid hide hides
  him his home hope hoped hopes horse horses hospital hospitals hot hotel hotels house houses hungrier hungry if ill in
  interesting into invite invited invites is it jacket jackets judge judges juice key keys king kings kitchen kitchens knew
  knife knives know knows lake lakes lamp lamps last laugh laughed laughs lazier lazy leave leaves left lend lends lent
  letter letters libraries library librarys light lighter like liked likes lion lions listen listened listens long longer
  look looked looks lose loses lost love loved loves machine machines man many map maps may me meet meets men met mice milk
  mirror mirrors money more morning mother mouse museum museums must my need needed needs neighbour neighbours nervous
  never new newer newspaper newspapers next nine nineteen ninety ninety-eight ninety-five ninety-four ninety-nine
  ninety-one ninety-seven ninety-six ninety-three ninety-two noon not now nurse nurses nut nuts o'clock of off office
  offices often old older on open opened opens orange oranges order ordered orders our out paint painted paints parcel
  parcels park parks pear pears pen pencil pencils pens pick picked picks picture pictures pig pigs plan planned plans
  plant planted plants plate plates play played plays please plum plums policeman policemen polite politer poor poorer
  potato potatoes present presents princess princesses promise promised promises proud put puts queen queens question
  questions quiet rabbit rabbits radio radios rains ran rarely read reads red remember remembered remembers repair repaired
  repairs rich richer ring rings ripe riper river rivers roll rolls room rooms rose roses run runs sad sadder said salad
  salads sang satisfied sausage sausages saw say says scarf scarfs scarves school schools see sees sell sells send sends
  sent seven seventeen seventy seventy-eight seventy-five seventy-four seventy-nine seventy-one seventy-seven seventy-six
  seventy-three seventy-two she shelf shelves ship ships shirt shirts shoe shoes shop shops short shorter should show
  showed shows sing sings sister sisters six sixteen sixty sixty-eight sixty-five sixty-four sixty-nine sixty-one
  sixty-seven sixty-six sixty-three sixty-two skirt skirts sleep sleeps slept slow small smaller snows sofa sofas sold
  sometimes son sons soup soups speak speaks spoke sponge sponges spoon spoons square squares station stations stay stayed
  stays stories story street streets strong stronger student students suitcase suitcases summer surprised sweet sweeter
  table tables take takes talk talked talks tall taller tea teacher teachers telephone telephones telescope telescopes
  television televisions ten than thank thanked thanks that the their them these they think thinks thirteen thirty
  thirty-eight thirty-five thirty-four thirty-nine thirty-one thirty-seven thirty-six thirty-three thirty-two this thought
  three threw throw throws tired to today tomato tomatoes tomorrow too took tool tools towel towels travel travelled
  travels tree trees tried tries trust trusted trusts try turn turned turns twelve twenty twenty-eight twenty-five
  twenty-four twenty-nine twenty-one twenty-seven twenty-six twenty-three twenty-two two umbrella umbrellas uncle uncles
  under understand understands understood up us vase vases very village villages visit visited visits wait waited waitress
  waitresses waits wake wakes wall walls want wanted wants warm warmer was wash washed washes watch watched watches water
  we weak week weekend went were wet wheel wheels when where whether white who whom why wide wider wild wilder will window
  windows wine winter with woke woman women work worked works worried write writes wrote year yellow yesterday you young
  younger your
`.trim().split(/\s+/);
