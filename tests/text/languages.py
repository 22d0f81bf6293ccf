"""Sentences of eleven languages beside English: five subjects, six verbs and ten objects, so 300 pairs of each."""

from __future__ import annotations

from itertools import product

_ENGLISH = (
    "the man|the boy|the teacher|the doctor|my friend",
    "sees|buys|sells|finds|draws|brings",
    "the book|the picture|the letter|the house|the bread|the flower|the map|the stone|the chair|the box",
)
_OTHERS = {
    "zh": (
        "男人|男孩|老师|医生|我的朋友",
        "看见|买|卖|找到|画|带来",
        "这本书|这幅画|这封信|这座房子|这个面包|这朵花|这张地图|这块石头|这把椅子|这个盒子",
        "{subject}{verb}{object}。",
    ),
    "ja": (
        "男の人|男の子|先生|医者|私の友だち",
        "見ます|買います|売ります|見つけます|かきます|持ってきます",
        "本|絵|手紙|家|パン|花|地図|石|いす|箱",
        "{subject}は{object}を{verb}。",
    ),
    "th": (
        "ผู้ชาย|เด็กชาย|ครู|หมอ|เพื่อนของฉัน",
        "เห็น|ซื้อ|ขาย|พบ|วาด|นำ",
        "หนังสือ|รูปภาพ|จดหมาย|บ้าน|ขนมปัง|ดอกไม้|แผนที่|หิน|เก้าอี้|กล่อง",
        "{subject}{verb}{object}",
    ),
    "ar": (
        "الرجل|الولد|المعلم|الطبيب|صديقي",
        "يرى|يشتري|يبيع|يجد|يرسم|يحضر",
        "الكتاب|الصورة|الرسالة|البيت|الخبز|الزهرة|الخريطة|الحجر|الكرسي|الصندوق",
        "{verb} {subject} {object}.",
    ),
    "fa": (
        "مرد|پسر|معلم|پزشک|دوستم",
        "می‌بیند|می‌خرد|می‌فروشد|پیدا می‌کند|می‌کشد|می‌آورد",
        "کتاب|عکس|نامه|خانه|نان|گل|نقشه|سنگ|صندلی|جعبه",
        "{subject} {object} را {verb}.",
    ),
    "hi": (
        "आदमी|लड़का|शिक्षक|डॉक्टर|मेरा दोस्त",
        "देखता है|खरीदता है|बेचता है|ढूँढता है|बनाता है|लाता है",
        "किताब|तस्वीर|चिट्ठी|घर|रोटी|फूल|नक्शा|पत्थर|कुर्सी|डिब्बा",
        "{subject} {object} {verb}।",
    ),
    "fi": (
        "mies|poika|opettaja|lääkäri|ystäväni",
        "näkee|ostaa|myy|löytää|piirtää|tuo",
        "kirjan|kuvan|kirjeen|talon|leivän|kukan|kartan|kiven|tuolin|laatikon",
        "{subject} {verb} {object}.",
    ),
    "tr": (
        "adam|çocuk|öğretmen|doktor|arkadaşım",
        "görüyor|satın alıyor|satıyor|buluyor|çiziyor|getiriyor",
        "kitabı|resmi|mektubu|evi|ekmeği|çiçeği|haritayı|taşı|sandalyeyi|kutuyu",
        "{subject} {object} {verb}.",
    ),
    "ko": (
        "남자는|소년은|선생님은|의사는|내 친구는",
        "봅니다|삽니다|팝니다|찾습니다|그립니다|가져옵니다",
        "책을|그림을|편지를|집을|빵을|꽃을|지도를|돌을|의자를|상자를",
        "{subject} {object} {verb}.",
    ),
    "uk": (
        "чоловік|хлопець|учитель|лікар|мій друг",
        "бачить|купує|продає|знаходить|малює|приносить",
        "книгу|картину|лист|будинок|хліб|квітку|карту|камінь|стілець|коробку",
        "{subject} {verb} {object}.",
    ),
    "vi": (
        "người đàn ông|cậu bé|giáo viên|bác sĩ|bạn tôi",
        "thấy|mua|bán|tìm được|vẽ|mang đến",
        "quyển sách|bức tranh|lá thư|ngôi nhà|ổ bánh mì|bông hoa|tấm bản đồ|hòn đá|cái ghế|cái hộp",
        "{subject} {verb} {object}.",
    ),
}
LANGUAGES = tuple(_OTHERS)


def pairs(language: str) -> list[tuple[str, str]]:
    """The 300 pairs of English and another language, in an order that mixes them."""
    *parts, frame = _OTHERS[language]
    english = product(*(part.split("|") for part in _ENGLISH))
    others = product(*(part.split("|") for part in parts))
    found = [
        (f"{subject.capitalize()} {verb} {object}.", frame.format(subject=a, verb=b, object=c))
        for (subject, verb, object), (a, b, c) in zip(english, others, strict=True)
    ]
    return [found[7 * number % len(found)] for number in range(len(found))]
