import HubCore

extension Pattern {
    /// Runs of one script, with Hiragana and Katakana counted as Han, each with the spaces and unassigned characters
    /// after it; text before the first is in no run, as in the reference.
    static func scripts(path: String) throws(AIError) -> Pattern {
        let neutral = #"\x{20}\p{sc:Unknown}"#
        let han = #"\p{sc:Han}\p{sc:Hiragana}\p{sc:Katakana}\x{30FC}"#
        var runs = ["[\(han)][\(han)\(neutral)]*", #"(?:(?![\x{20}\x{30FC}])\p{sc:Common}(?:[\#(neutral)])*)+"#]
        for script in scriptNames { runs.append("\\p{sc:\(script)}[\\p{sc:\(script)}\(neutral)]*") }
        return try Pattern(translated: runs.joined(separator: "|"), original: "UnicodeScripts", path: path)
    }

    /// The scripts of Unicode 14 (Scripts.txt) that are not named above.
    private static let scriptNames = """
        Latin Cyrillic Greek Arabic Hebrew Hangul Devanagari Thai Inherited Adlam Ahom Anatolian_Hieroglyphs Armenian \
        Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid \
        Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Coptic Cuneiform Cypriot \
        Cypro_Minoan Deseret Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian \
        Glagolitic Gothic Grantha Gujarati Gunjala_Gondi Gurmukhi Hanifi_Rohingya Hanunoo Hatran Imperial_Aramaic \
        Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Kayah_Li Kharoshthi Khitan_Small_Script \
        Khmer Khojki Khudawadi Lao Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam \
        Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive \
        Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari New_Tai_Lue Newa Nko Nushu \
        Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian \
        Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau \
        Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting \
        Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet \
        Takri Tamil Tangsa Tangut Telugu Thaana Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Warang_Citi \
        Yezidi Yi Zanabazar_Square
        """.split(separator: " ")
}
