"""Probes of search: what stands in an event that is not plain English words, and a question that must find it first.

Each probe has a name, the event, one distractor that resembles it, and the question.
"""

from typing import NamedTuple


class Probe(NamedTuple):
    """The event must be the first hit of the question."""

    name: str
    event: str
    distractor: str
    question: str


_TABLE: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "chinese": (
        ("word", "我们下周去杭州看客户。", "我们下周去成都吃火锅。", "什么时候去杭州?"),
        ("name", "王芳负责数据库迁移。", "李强负责前端设计。", "谁负责数据库迁移?"),
        ("one character", "我对花生过敏。", "我对猫毛不过敏。", "花生"),
        ("latin inside", "报表用Superset做。", "报表用Excel做。", "Superset"),
        ("number", "会议室改到三楼302。", "会议室在五楼510。", "302会议室"),
        ("traditional", "發票寄到台北的辦公室。", "合約寄到高雄的倉庫。", "發票寄到哪裡?"),
    ),
    "japanese": (
        ("kanji", "来週は京都へ出張します。", "来週は札幌で休みます。", "京都への出張はいつですか?"),
        ("katakana", "サーバーはレイキャビクにあります。", "サーバーはダブリンにあります。", "レイキャビク"),
        ("hiragana", "あたらしいかぎはひきだしにある。", "ふるいかさはげんかんにある。", "かぎはどこ?"),
        ("name", "田中さんは辛い物が苦手です。", "鈴木さんは甘い物が好きです。", "田中さんが苦手な物は?"),
        ("mixed", "請求システムをGo言語で書き直す。", "検索システムをRustで書き直す。", "請求システムの言語"),
        ("long vowel", "データベースのバックアップは金曜日です。", "ログの削除は火曜日です。", "バックアップは何曜日?"),
    ),
    "korean": (
        ("word", "다음 주에 부산으로 출장을 갑니다.", "다음 주에 서울에서 쉽니다.", "부산 출장은 언제예요?"),
        ("particle", "민수는 결제 서비스를 담당해요.", "지혜는 검색 서비스를 담당해요.", "결제 서비스 담당"),
        ("compound", "데이터베이스이전은 사월에 끝나요.", "웹사이트개편은 유월에 끝나요.", "데이터베이스 이전"),
        ("name", "유진은 우유를 마시지 않아요.", "하준은 커피를 마시지 않아요.", "유진은 뭘 마시지 않아요?"),
    ),
    "thai": (
        ("word", "เราจะย้ายไปเชียงใหม่ในเดือนหน้า", "เราจะกินข้าวที่ภูเก็ตวันนี้", "ย้ายไปเชียงใหม่เมื่อไร"),
        ("name", "สมชายแพ้กุ้ง", "สมหญิงชอบปลา", "สมชายแพ้อะไร"),
    ),
    "german compounds": (
        (
            "whole",
            "Die Haftpflichtversicherung läuft im Mai ab.",
            "Der Mietvertrag läuft im Juni ab.",
            "Wann endet die Haftpflichtversicherung?",
        ),
        (
            "last part",
            "Die Krankenversicherung kostet 310 Euro.",
            "Die Miete kostet 900 Euro.",
            "Was kostet die Versicherung?",
        ),
        (
            "first part",
            "Der Datenbankumzug ist am Freitag.",
            "Der Büroumbau ist am Montag.",
            "Wann zieht die Datenbank um?",
        ),
        (
            "apart in question",
            "Das Urlaubsfoto hängt im Flur.",
            "Die Wanduhr hängt im Bad.",
            "Wo hängt das Foto vom Urlaub?",
        ),
        (
            "apart in event",
            "Die Rechnung für Strom kommt vierteljährlich.",
            "Der Brief der Bank kommt monatlich.",
            "Wie oft kommt die Stromrechnung?",
        ),
        (
            "umlaut",
            "Die Küchengeräte stehen im Keller.",
            "Die Gartenmöbel stehen im Schuppen.",
            "Wo sind die Küchengeräte?",
        ),
        (
            "umlaut written out",
            "Müller liefert die Türen am Dienstag.",
            "Meier liefert die Fenster am Mittwoch.",
            "Was liefert Mueller?",
        ),
        (
            "sharp s",
            "Die Lagerstraße ist bis Herbst gesperrt.",
            "Die Brücke ist bis Ostern gesperrt.",
            "Lagerstrasse gesperrt",
        ),
    ),
    "paths": (
        (
            "whole",
            "The hook lives in deploy/hooks/post_merge.sh now.",
            "The readme lives in deploy/README.md now.",
            "deploy/hooks/post_merge.sh",
        ),
        (
            "file of a path",
            "I fixed tools/logs/tail_wrapper.sh today.",
            "I fixed tools/logs/rotate.py today.",
            "tail_wrapper.sh",
        ),
        (
            "path of a file",
            "I renamed tail_follow.sh today.",
            "I renamed head_lines.sh today.",
            "bin/logs/tail_follow.sh",
        ),
        (
            "absolute",
            "Certificates are in /etc/nimbus/tls/server.pem here.",
            "Keys are in /var/nimbus/keys here.",
            "/etc/nimbus/tls",
        ),
        (
            "windows",
            r"The export is at C:\Reports\2026\quarter3.xlsx for now.",
            r"The import is at D:\Inbox\list.csv for now.",
            "quarter3.xlsx",
        ),
        (
            "dotted",
            "Set it in settings.local.toml, please.",
            "Set it in settings.base.json, please.",
            "settings.local.toml",
        ),
        (
            "stem of a file",
            "The bug was in invoice_parser.py again.",
            "The bug was in invoice_mailer.py again.",
            "invoice parser bug",
        ),
        (
            "home",
            "My notes are under ~/notes/garden.md these days.",
            "My photos are under ~/pictures these days.",
            "~/notes/garden.md",
        ),
    ),
    "identifiers": (
        ("ticket", "PAY-4127 is blocked by the bank.", "PAY-4172 is done.", "What about PAY-4127?"),
        (
            "camel case",
            "We renamed it to retryBackoffPolicy yesterday.",
            "We removed cacheWarmupJob yesterday.",
            "retry backoff policy",
        ),
        (
            "words of camel case",
            "The class OrderLineMapper is slow.",
            "The class UserListView is fine.",
            "OrderLineMapper",
        ),
        (
            "snake case",
            "The flag enable_dark_launch is on for staging.",
            "The flag enable_beta_menu is off for staging.",
            "dark launch flag",
        ),
        ("scoped package", "Use @acme/prompts for menus.", "Use @acme/tables for lists.", "@acme/prompts"),
        ("hash", "The release is commit 9f3ac71e of main.", "The hotfix is commit 41bd02aa of main.", "9f3ac71e"),
        ("version", "We are on Valkey 9.1.4 in production.", "We are on Valkey 8.0.2 in staging.", "9.1.4"),
        (
            "address",
            "Write to billing+eu@example.org for refunds.",
            "Write to press@example.org for news.",
            "billing+eu@example.org",
        ),
    ),
    "emoji": (
        ("alone", "Our team sign is 🦊 from now on.", "Our old sign was 🐢 until now.", "🦊"),
        (
            "in a question",
            "Deploys marked 🚀 go to production.",
            "Deploys marked 🧪 go to staging.",
            "What does 🚀 mean for deploys?",
        ),
        ("skin tone", "Noor answers with 👍🏽 when she agrees.", "Tom answers with a nod when he agrees.", "👍🏽"),
        ("flag", "The 🇳🇴 office closes in July.", "The 🇫🇷 office closes in August.", "🇳🇴"),
    ),
    "code": (
        ("call", "Never call os.fork() in the worker.", "Always call os.wait() in the runner.", "os.fork()"),
        (
            "option",
            "Run it with --max-old-space-size=4096 please.",
            "Run it with --inspect please.",
            "--max-old-space-size",
        ),
        ("error", "It died with ECONNRESET at noon.", "It died with ETIMEDOUT at one.", "ECONNRESET"),
        (
            "block",
            "The query is:\n```sql\nSELECT payee FROM ledger_rows WHERE settled IS NULL\n```",
            "The query is:\n```sql\nSELECT name FROM people\n```",
            "ledger_rows settled",
        ),
        (
            "operator",
            "In this project we write a ?? b for defaults.",
            "In this project we write if and else for branches.",
            "a ?? b",
        ),
        (
            "generic",
            "The type is Result<Invoice, ParseError> everywhere.",
            "The type is Option<Person> elsewhere.",
            "Result<Invoice, ParseError>",
        ),
        (
            "variable",
            "Export NIMBUS_API_TOKEN_FILE before the tests.",
            "Export NIMBUS_REGION before the tests.",
            "NIMBUS_API_TOKEN_FILE",
        ),
        ("backticks", "Call `flush_all` after `begin_batch`.", "Call `stop_all` after `end_loop`.", "flush_all"),
    ),
    "others": (
        (
            "url",
            "The board is https://boards.example.net/b/kite-42 for us.",
            "The wiki is https://wiki.example.net/home for us.",
            "boards.example.net/b/kite-42",
        ),
        ("accent", "The café Zoë meets us at is closed.", "The bakery Tom meets us at is open.", "cafe Zoe"),
        (
            "russian",
            "Мы переехали в Казань прошлой осенью.",
            "Мы купили машину прошлой весной.",
            "Когда переехали в Казань?",
        ),
        ("arabic", "اجتماع الميزانية يوم الخميس", "حفلة الفريق يوم الأحد", "متى اجتماع الميزانية"),
        ("apostrophe", "I dont eat shellfish, ever.", "I do eat oysters, often.", "don't eat shellfish"),
        ("phone", "The plumber's number is +47 555 01 234.", "The baker's number is +47 555 09 876.", "+47 555 01 234"),
    ),
}
PROBES = tuple(Probe(f"{kind}: {name}", *rest) for kind, probes in _TABLE.items() for name, *rest in probes)
