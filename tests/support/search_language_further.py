"""Thirty more probes of search: emoji, accents, and the parts of German compounds."""

from tests.support.search_language_probes import Probe

_TABLE: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "emoji": (
        ("heart", "Cards with ❤️ go to Grandma.", "Cards with a star go to Uncle Lou.", "❤"),
        (
            "other skin tone",
            "Rosa signs her mails with 🙏🏿 always.",
            "Lena signs her mails with a dash always.",
            "🙏🏻",
        ),
        ("joined", "The role 👩‍🚒 belongs to Petra.", "The role of cook belongs to Hanno.", "👩‍🚒"),
        ("beside a word", "Tag it urgent🔥 in the tracker.", "Tag it later🐌 in the tracker.", "🔥"),
        ("two", "Menu items with 🌶️🌶️ are very hot.", "Menu items with 🥛 are very mild.", "Which items have 🌶?"),
        ("symbol", "Runs marked ✅ were checked by Ines.", "Runs marked ❌ were checked by Olaf.", "✅ runs"),
        ("flag of two", "The 🇯🇵 plug needs an adapter.", "The 🇯🇲 plug needs a converter.", "🇯🇵"),
        ("german", "Das Zeichen 🐝 steht für die Imkerei.", "Das Zeichen 🐑 steht für die Weide.", "Was heißt 🐝?"),
        ("in code", "The status line prints 💤 while idle.", "The status line prints dots while busy.", "prints 💤"),
        ("japanese", "合図は🎏です。", "合図は🎍です。", "🎏"),
    ),
    "accents": (
        ("french", "La réunion à Orléans est décalée.", "La fête à Lyon est annulée.", "reunion decalee"),
        ("spanish", "La habitación del niño está lista.", "La cocina del vecino está sucia.", "habitacion nino"),
        ("portuguese", "A reserva em São João é às nove.", "A consulta em Braga é às dez.", "reserva Sao Joao"),
        ("polish", "Spotkanie w Łodzi prowadzi Żaneta.", "Obiad w Krakowie robi Marek.", "Zaneta Lodzi"),
        ("czech", "Schůzka v Plzeňské ulici je v úterý.", "Oběd v Dlouhé ulici je v pátek.", "Plzenske ulici"),
        ("danish", "Mødet på Nørrebro begynder klokken ti.", "Festen i Odense slutter klokken to.", "Norrebro"),
        ("turkish", "Toplantı Üsküdar şubesinde olacak.", "Yemek Ankara lokantasında olacak.", "Uskudar subesinde"),
        ("only in question", "Our vendor is Citroen in Nimes.", "Our vendor is Skoda in Graz.", "Citroën Nîmes"),
        ("name in english", "Beyoncé Márquez owns the ledger.", "Brenda Stone owns the garage.", "Who is Marquez?"),
        ("vietnamese", "Quán phở ở Đà Nẵng mở lúc sáu giờ.", "Tiệm hoa ở Huế mở lúc tám giờ.", "pho Da Nang"),
    ),
    "compounds": (
        ("lease", "Der Mietvertrag liegt beim Notar.", "Der Ausweis liegt beim Amt.", "Wo liegt der Vertrag?"),
        ("car", "Die Autowerkstatt ruft morgen an.", "Die Zahnärztin ruft heute an.", "Welche Werkstatt ruft an?"),
        (
            "glue s",
            "Die Geburtstagsfeier ist im Garten.",
            "Die Sitzung ist im Turm.",
            "Wo wird der Geburtstag gefeiert?",
        ),
        ("plural", "Die Zimmerpflanzen brauchen kaum Wasser.", "Die Hunde brauchen viel Auslauf.", "Pflanzen Wasser"),
        ("apart", "Der Schlüssel für das Haus hängt innen.", "Der Mantel für Oma hängt außen.", "Hausschlüssel"),
        ("of", "Der Preis des Hotels stieg auf 140 Euro.", "Der Preis der Bahn stieg auf 80 Euro.", "Hotelpreis"),
        (
            "three",
            "Die Kinderwagenräder quietschen laut.",
            "Die Fensterläden klappern leise.",
            "Was ist mit dem Kinderwagen?",
        ),
        ("umlaut", "Das Büchergeschäft schließt um sechs.", "Das Kino schließt um elf.", "Wann schließt das Geschäft?"),
        ("glue n", "Das Straßenfest beginnt am Rathaus.", "Der Umzug beginnt am Hafen.", "Fest auf der Straße"),
        (
            "glue en",
            "Die Dokumente der Kunden liegen im Safe.",
            "Die Akten der Firma liegen im Regal.",
            "Kundendokumente",
        ),
    ),
}
FURTHER = tuple(Probe(f"further {kind}: {name}", *rest) for kind, probes in _TABLE.items() for name, *rest in probes)
