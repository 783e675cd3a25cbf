"""Further pairs of `contradiction_pairs`, without a word for a change, the newer one first."""

from typing import Final

COUNTED: Final = """
en | The server has 8 cores | The server has 4 cores
en | My flat has 4 rooms | My flat has 3 rooms
en | The room holds 30 people | The room holds 25 people
en | Our team has 7 members | Our team has 9 members
en | The subscription costs 12 euros a month | The subscription costs 9 euros a month
en | My commute takes 40 minutes | My commute takes 25 minutes
de | Der Server hat 8 Kerne | Der Server hat 4 Kerne
de | Unser Büro hat 12 Plätze | Unser Büro hat 10 Plätze
de | Das Abo kostet 12 Euro im Monat | Das Abo kostet 9 Euro im Monat
fr | Le serveur a 8 cœurs | Le serveur a 4 cœurs
fr | Mon appartement a 4 pièces | Mon appartement a 3 pièces
es | El servidor tiene 8 núcleos | El servidor tiene 4 núcleos
es | Nuestro equipo tiene 7 personas | Nuestro equipo tiene 9 personas
it | Il server ha 8 core | Il server ha 4 core
it | La mia casa ha 5 stanze | La mia casa ha 4 stanze
pt | O servidor tem 8 núcleos | O servidor tem 4 núcleos
pl | Serwer ma 16 rdzeni | Serwer ma 8 rdzeni
tr | Sunucunun 8 çekirdeği var | Sunucunun 4 çekirdeği var
ru | Сервер имеет 16 ядер | Сервер имеет 8 ядер
uk | Сервер має 16 ядер | Сервер має 8 ядер
ar | الخادم لديه 8 أنوية | الخادم لديه 4 أنوية
hi | सर्वर में 8 कोर हैं | सर्वर में 4 कोर हैं
ja | サーバーは8コアです | サーバーは4コアです
zh | 服务器有8个核心 | 服务器有4个核心
ko | 서버는 코어가 8개예요 | 서버는 코어가 4개예요
en | My laptop has 32 GB of memory | My laptop has 16 GB of memory
de | Das Haus hat 3 Stockwerke | Das Haus hat 2 Stockwerke
"""
COUNTED_OTHERWISE: Final = """
en | My son has 3 cats | My daughter has 2 cats
en | I ran 10 km on Sunday | I ran 5 km on Monday
en | I paid 50 francs | I paid 30 francs
en | The server has 64 GB of memory | The server has 8 cores
en | Server 2 has 8 cores | Server 1 has 4 cores
en | My brother has a dog | My brother has 2 sons
en | My brother has 3 daughters | My brother has 2 sons
en | The blue server has 8 cores | The green server has 4 cores
en | I bought 3 tickets | I bought 2 tickets
en | The kitchen has 2 windows | The bathroom has 1 window
en | My old bike has 21 gears | My new bike has 7 gears
en | The server has 8 cores and 64 GB | My laptop has 4 cores and 16 GB
de | Ich habe 5 Äpfel gekauft | Ich habe 3 Äpfel gekauft
de | Server B hat 8 Kerne | Server A hat 4 Kerne
de | Der Server hat 64 GB Speicher | Der Server hat 8 Kerne
fr | Mon frère a 3 chats | Ma sœur a 2 chats
fr | J'ai couru 10 km dimanche | J'ai couru 5 km lundi
es | La cocina tiene 2 ventanas | El baño tiene 1 ventana
it | Mio fratello ha 2 figli | Mio fratello ha 3 gatti
pt | Comprei 3 livros | Comprei 2 livros
pl | Mój brat ma 2 synów | Mój brat ma 3 córki
ru | На кухне 2 окна | В ванной 1 окно
ja | 兄は猫が3匹います | 姉は猫が2匹います
zh | 我哥哥有3只猫 | 我姐姐有2只猫
ko | 제 형은 고양이가 3마리예요 | 제 누나는 고양이가 2마리예요
en | I have 2 dogs | I have 3 cats
en | The report has 3 pages | The report has 8 chapters
en | I ran 5 times in May | I ran 3 times in May
es | Tengo 2 perros | Tengo 3 gatos
it | Ho 2 cani | Ho 3 gatti
ja | 私は猫が2匹います | 私は犬が3匹います
ru | У меня 2 собаки | У меня 3 кошки
en | Shelf 2 holds jars | Shelf 1 holds jars
en | Room 2 is cold | Room 1 is cold
de | Regal 2 enthält Gläser | Regal 1 enthält Gläser
fr | Le bureau 2 a une fenêtre | Le bureau 1 a une fenêtre
"""
PLACED: Final = """
en | My bike is in the cellar | My bike is at the station
en | The spare key is under the mat | The spare key is in the drawer
en | My passport is at home | My passport is in the safe
en | The meeting room is on floor 3 | The meeting room is on floor 2
en | My car is parked behind the church | My car is parked on Mill Street
de | Mein Fahrrad ist im Keller | Mein Fahrrad ist am Bahnhof
de | Der Ersatzschlüssel liegt unter der Matte | Der Ersatzschlüssel liegt in der Schublade
de | Mein Pass ist zu Hause | Mein Pass ist im Safe
fr | Mon vélo est à la cave | Mon vélo est à la gare
fr | La clé est sous le tapis | La clé est dans le tiroir
es | Mi bici está en el sótano | Mi bici está en la estación
es | La llave está debajo de la alfombra | La llave está en el cajón
it | La mia bici è in cantina | La mia bici è alla stazione
it | La chiave è sotto il tappeto | La chiave è nel cassetto
pt | A minha bicicleta está na cave | A minha bicicleta está na estação
pl | Mój rower jest w piwnicy | Mój rower jest na dworcu
tr | Bisikletim bodrumda | Bisikletim istasyonda
ru | Мой велосипед в подвале | Мой велосипед на вокзале
uk | Мій велосипед у підвалі | Мій велосипед на вокзалі
ar | دراجتي في القبو | دراجتي في المحطة
hi | मेरी साइकिल तहखाने में है | मेरी साइकिल स्टेशन पर है
ja | 私の自転車は地下室にあります | 私の自転車は駅にあります
zh | 我的自行车在地下室 | 我的自行车在车站
ko | 제 자전거는 지하실에 있어요 | 제 자전거는 역에 있어요
en | The kids are at the lake | The kids are at school
de | Die Schlüssel sind im Auto | Die Schlüssel sind in der Küche
es | La impresora está en la oficina | La impresora está en casa
nl | Mijn fiets is in de kelder | Mijn fiets is op het station
ru | Мой паспорт в сейфе | Мой паспорт в ящике
ja | 会議室は3階にあります | 会議室は2階にあります
"""
PLACED_OTHERWISE: Final = """
en | My blue bike is in the cellar | My red bike is at the station
en | One of my bikes is in the cellar | One of my bikes is at the station
en | My bike is red | My bike is at the station
en | My bike is in the cellar | My car is at the station
en | The bikes are in the cellar | The bikes are red
en | My bike is broken | My bike is in the cellar
en | My bike is at the station | My bike is a Brompton
en | My sister's bike is in the cellar | My bike is at the station
en | My keys are in the drawer | My glasses are on the table
en | Some of our offices are in Bern | Some of our offices are in Basel
de | Mein rotes Rad ist im Keller | Mein blaues Rad ist am Bahnhof
de | Mein Rad ist kaputt | Mein Rad ist im Keller
de | Mein Auto ist in der Garage | Mein Rad ist am Bahnhof
fr | Mon vélo est rouge | Mon vélo est à la gare
fr | Le vélo de Luc est à la cave | Le vélo de Léa est à la gare
es | Mi bici está rota | Mi bici está en la estación
es | Mi coche está en el garaje | Mi bici está en la estación
it | La bici di Anna è in cantina | La bici di Luca è alla stazione
pt | A minha bicicleta é vermelha | A minha bicicleta está na estação
ru | Моя машина в гараже | Мой велосипед на вокзале
ja | 私の車は車庫にあります | 私の自転車は駅にあります
ja | 私の自転車は赤です | 私の自転車は駅にあります
zh | 我的自行车是红色的 | 我的自行车在车站
zh | 我的汽车在车库 | 我的自行车在车站
ko | 제 차는 차고에 있어요 | 제 자전거는 역에 있어요
en | My sister is on holiday in June | My sister is at the office on Mondays
en | My phone is in my bag | My phone is an iPhone
en | The milk is in the fridge | The milk is out of date
en | My mother is in hospital | My mother has 3 sisters
de | Meine Brille ist im Auto | Meine Brille ist neu
de | Ein Fahrrad ist im Keller | Ein Fahrrad ist am Bahnhof
"""
GIVEN_UP: Final = """
en | I sold my bike | I have a bike
en | I sold my bike | My bike is at the station
en | We gave away our dog | Our dog is called Bella
en | I lost my passport | My passport is in the drawer
en | I cancelled my gym membership | I have a gym membership
en | I sold the car yesterday | My car is a blue Skoda
de | Ich habe mein Fahrrad verkauft | Mein Fahrrad ist am Bahnhof
de | Ich habe mein Abo gekündigt | Ich habe ein Abo
de | Ich habe meinen Pass verloren | Mein Pass ist im Safe
fr | J'ai vendu mon vélo | Mon vélo est à la gare
fr | J'ai résilié mon abonnement | J'ai un abonnement
es | Vendí mi bici | Mi bici está en la estación
es | He perdido mi pasaporte | Mi pasaporte está en el cajón
it | Ho venduto la mia bici | La mia bici è in cantina
pt | Vendi a minha bicicleta | A minha bicicleta está na estação
pl | Sprzedałem mój rower | Mój rower jest w piwnicy
tr | Bisikletimi sattım | Bisikletim istasyonda
ru | Я продал велосипед | Мой велосипед в подвале
uk | Я продав велосипед | Мій велосипед у підвалі
ar | بعت دراجتي | دراجتي في المحطة
hi | मैंने अपनी साइकिल बेच दी | मेरी साइकिल स्टेशन पर है
ja | 私の自転車を売りました | 私の自転車は駅にあります
zh | 我卖了我的自行车 | 我的自行车在车站
ko | 제 자전거를 팔았어요 | 제 자전거는 역에 있어요
en | We lost our cat | Our cat sleeps in the kitchen
fr | J'ai perdu mes clés | Mes clés sont dans le tiroir
it | Ho perso il passaporto | Il mio passaporto è nel cassetto
"""
GAVE_UP_ANOTHER: Final = """
en | I sold my car | I have a bike
en | My sister sold her bike | My bike is at the station
en | I sold 3 cakes at the market | I like cakes
en | I sold my bike | I like bikes
en | I lost my keys in Rome | I love Rome
en | We sell bikes | My bike is at the station
en | I sold my old bike | My new bike is at the station
en | I cancelled my flight to Rome | I have a gym membership
de | Ich habe mein Auto verkauft | Mein Fahrrad ist am Bahnhof
de | Wir haben gestern 20 Kuchen verkauft | Ich mag Kuchen
de | Meine Schwester hat ihr Fahrrad verkauft | Mein Fahrrad ist am Bahnhof
fr | Mon frère a vendu son vélo | Mon vélo est à la gare
fr | J'ai vendu ma voiture | Mon vélo est à la gare
es | Vendí mi coche | Mi bici está en la estación
es | Mi hermana vendió su bici | Mi bici está en la estación
it | Ho venduto la mia macchina | La mia bici è in cantina
pt | Vendi o meu carro | A minha bicicleta está na estação
pl | Moja siostra sprzedała rower | Mój rower jest w piwnicy
ru | Моя сестра продала велосипед | Мой велосипед в подвале
ja | 妹は自転車を売りました | 私の自転車は駅にあります
zh | 我妹妹卖了自行车 | 我的自行车在车站
ko | 제 동생은 자전거를 팔았어요 | 제 자전거는 역에 있어요
en | I lost 5 kilos | I weigh 80 kilos
en | I lost the game against Ben | Ben is my neighbour
en | I cancelled the meeting with Petra | My manager is Petra Wolf
en | I sold my bike helmet | My bike is at the station
fr | J'ai perdu 5 kilos | Je pèse 80 kilos
es | He perdido el tren | El tren a Roma sale a las 8
zh | 我卖了3本书 | 我的书在家里
"""
NAMED: Final = """
zh | 我叫李明 | 我叫李名
zh | 我叫王小红 | 我叫王红
zh | 我姓张 | 我姓章
zh | 我的猫叫小白 | 我的猫叫大白
zh | 我儿子叫小明 | 我儿子叫大明
zh | 我名叫陈伟 | 我名叫陈威
ja | 私は健太と言います | 私は健二と言います
ja | 犬の名前はポチです | 犬の名前はシロです
ko | 저는 지훈이라고 해요 | 저는 지운이라고 해요
en | I go by Kat | I go by Kate
en | Our cat is called Milo | Our cat is called Milou
de | Ich heiße Jana | Ich heiße Yana
de | Unsere Katze heißt Mia | Unsere Katze heißt Mira
fr | Notre chat s'appelle Milo | Notre chat s'appelle Milou
es | Mi gata se llama Nube | Mi gata se llama Luna
it | Il mio cane si chiama Argo | Il mio cane si chiama Ugo
pt | O meu cão chama-se Rex | O meu cão chama-se Max
ru | Мою кошку зовут Муся | Мою кошку зовут Маруся
uk | Мого кота звати Мурко | Мого кота звати Мурчик
pl | Mój pies nazywa się Reks | Mój pies nazywa się Rex
tr | Kedimin adı Pamuk | Kedimin adı Duman
"""
NAMED_OTHERWISE: Final = """
zh | 我的狗叫小黑 | 我的猫叫小白
zh | 我儿子叫小明 | 我女儿叫小红
zh | 我叫李明 | 我的猫叫小白
zh | 我叫了出租车 | 我叫李明
ja | 猫の名前はミケです | 犬の名前はポチです
ko | 제 고양이 이름은 나비예요 | 제 강아지 이름은 초코예요
en | Our dog is called Bella | Our cat is called Milo
en | I called Kate | I am called Kat
en | My brother's name is Finn | My sister's name is Lea
de | Unser Hund heißt Bello | Unsere Katze heißt Mia
de | Mein Bruder heißt Finn | Ich heiße Jana
fr | Notre chien s'appelle Rex | Notre chat s'appelle Milo
fr | J'appelle Luc | Je m'appelle Mathieu
es | Mi perro se llama Toby | Mi gata se llama Luna
it | Il mio gatto si chiama Micio | Il mio cane si chiama Argo
pt | A minha gata chama-se Nina | O meu cão chama-se Max
ru | Мою собаку зовут Рекс | Мою кошку зовут Муся
uk | Мого пса звати Рекс | Мого кота звати Мурко
pl | Mój kot nazywa się Mruczek | Mój pies nazywa się Reks
tr | Köpeğimin adı Karabaş | Kedimin adı Pamuk
"""
