import Workloads

/// Texts of made-up words, the first ones of a vocabulary far more often than the others.
///
/// Every hundredth text has a word that no other text has, in its middle.
struct Texts {
  private let vocabulary = Vocabulary(count: 50_000, syllables: 2...5, seed: 7)
  private var random = SplitMix64(seed: 11)

  /// The word that only one text has.
  static func rareWord(_ number: Int) -> String { "quux\(number)zy" }

  mutating func make(_ count: Int, wordCount: Int) -> [String] {
    (0..<count).map { number in
      var bytes: [UInt8] = []
      for place in 0..<wordCount {
        if place > 0 { bytes.append(UInt8(ascii: " ")) }
        if number % 100 == 0, place == wordCount / 2 {
          bytes += Array("\(Texts.rareWord(number)) ".utf8)
        }
        bytes += vocabulary.draw(&random)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// A word by its place in the vocabulary: the lower, the more frequent.
  func word(_ place: Int) -> String { String(decoding: vocabulary[place], as: UTF8.self) }
}
