/// A font of dots for what is printable in ASCII: five across and nine down, of which two are below the line. Any other letter
/// is a question mark.
enum BitmapFont {
    /// Dots of a letter across, without the gap behind it, and down.
    static let width = 5, height = 9
    /// Dots from one letter to the next.
    static let advance = 6

    /// Of each letter from the space on nine rows from the top, each a digit of 32 whose highest bit is the dot at the left.
    private static let letters: [[UInt8]] = """
        000000000 444440400 AAA000000 0AVAVA000 4FKE5U400 PP248JJ00 CIK8LID00 444000000
        248884200 842224800 04LEL4000 044V44000 00000CC48 000V00000 00000CC00 11248GG00
        EHJLPHE00 4C4444E00 EH1248V00 V2421HE00 26AIV2200 VGU11HE00 68GUHHE00 V12488800
        EHHEHHE00 EHHF12C00 0CC0CC000 0CC00CC48 248G84200 00V0V0000 842124800 EH1240400
        EHNLNGE00 4AHHVHH00 UHHUHHU00 EHGGGHE00 SIHHHIS00 VGGUGGV00 VGGUGGG00 EHGNHHF00
        HHHVHHH00 E44444E00 72222IC00 HIKOKIH00 GGGGGGV00 HRLLHHH00 HPPLJJH00 EHHHHHE00
        UHHUGGG00 EHHHLID00 UHHUKIH00 FGGE11U00 V44444400 HHHHHHE00 HHHHHA400 HHHLLRH00
        HHA4AHH00 HHA444400 V1248GV00 E88888E00 GG8421100 E22222E00 4AH000000 0000000V0
        840000000 00E1FHF00 GGUHHHU00 00EHGHE00 11FHHHF00 00EHVGE00 68U888800 00FHHHF1E
        GGUHHHH00 40C444E00 2062222IC GGIKOKI00 C44444E00 00QLLLL00 00UHHHH00 00EHHHE00
        00UHHHUGG 00FHHHF11 00MOGGG00 00FGE1U00 88U888600 00HHHHF00 00HHHA400 00HLLLA00
        00HA4AH00 00HHHHF1E 00V248V00 244844200 444444400 844244800 008L20000
        """.split(whereSeparator: \.isWhitespace).map { $0.map { UInt8($0.wholeNumber(of: 32)) } }

    /// The rows of a letter: the dot at the left is bit 4.
    static func rows(_ letter: Unicode.Scalar) -> [UInt8] {
        let place = Int(letter.value) - 32
        return letters[letters.indices.contains(place) ? place : Int(UInt8(ascii: "?")) - 32]
    }

    /// Dots that a text takes across.
    static func width(of text: String) -> Int { max(0, text.unicodeScalars.count * advance - 1) }
}

extension Character {
    /// A digit of a base up to 36; 0 for what is none.
    fileprivate func wholeNumber(of base: Int) -> Int { Int(String(self), radix: base) ?? 0 }
}
