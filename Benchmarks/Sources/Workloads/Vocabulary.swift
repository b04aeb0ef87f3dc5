/// The words texts are made of.
///
/// Made up from syllables, so that letters repeat the way they do in a language and a compressor finds
/// what it would find in notes people write.
public struct Vocabulary: Sendable {
  private let words: [[UInt8]]

  /// Makes words of some syllables each, the same for the same seed.
  public init(count: Int, syllables: ClosedRange<Int>, seed: UInt64) {
    let onsets = ["b", "br", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "st", "t", "v"]
    let rimes = ["a", "an", "ar", "e", "el", "en", "i", "in", "o", "on", "or", "u"]
    var random = SplitMix64(seed: seed)
    words = (0..<count).map { _ in
      let length = syllables.lowerBound + random.next(below: syllables.count)
      return (0..<length).flatMap { _ in
        Array((onsets[random.next(below: 16)] + rimes[random.next(below: 12)]).utf8)
      }
    }
  }

  /// Draws a word; the first ones far more often, as in any language.
  public func draw(_ random: inout SplitMix64) -> [UInt8] {
    let position = random.nextUnit() * random.nextUnit()
    return words[Int(position * Double(words.count))]
  }

  /// A word by its place: the lower, the more often it is drawn.
  public subscript(index: Int) -> [UInt8] { words[index] }
}
