import Foundation

@testable import ModelRuntime

extension Questions {
  static let texts: [Question<Item>] = {
    var questions = [
      Question("isEmpty", #Predicate<Item> { $0.title.isEmpty }),
      Question("count", #Predicate<Item> { $0.title.count == 1 }),
      Question("pattern", #Predicate<Item> { $0.title.contains(/[a-c]+/) }),
      Question("two columns", #Predicate<Item> { $0.title == ($0.note ?? "") }),
      Question("two columns in order", #Predicate<Item> { $0.title < ($0.note ?? "c") }),
    ]
    let same = ComparisonResult.orderedSame
    let descending = ComparisonResult.orderedDescending
    for text in Samples.texts {
      let texts = [text, "abc"]
      questions += [
        Question("== \(text.debugDescription)", #Predicate { $0.title == text }),
        Question("!= \(text.debugDescription)", #Predicate { $0.title != text }),
        Question("< \(text.debugDescription)", #Predicate { $0.title < text }),
        Question(">= \(text.debugDescription)", #Predicate { $0.title >= text }),
        Question("contains \(text.debugDescription)", #Predicate { $0.title.contains(text) }),
        Question("starts \(text.debugDescription)", #Predicate { $0.title.starts(with: text) }),
        Question("is contained \(text.debugDescription)", #Predicate { text.contains($0.title) }),
        Question(
          "localized contains \(text.debugDescription)",
          #Predicate { $0.title.localizedStandardContains(text) }
        ),
        Question(
          "equal but for case \(text.debugDescription)",
          #Predicate { $0.title.caseInsensitiveCompare(text) == same }
        ),
        Question(
          "case-insensitive order \(text.debugDescription)",
          #Predicate { $0.title.caseInsensitiveCompare(text) != descending }
        ),
        Question(
          "localized order \(text.debugDescription)",
          #Predicate { $0.title.localizedCompare(text) == descending }
        ),
        Question("in \(text.debugDescription)", #Predicate { texts.contains($0.title) }),
      ]
    }
    return questions
  }()
}
