import Foundation
import LogEngineTestSupport
import SwiftData
import Testing

private enum Wrong {
  @Model final class Shelf {
    @Relationship(inverse: \Item.shelf) var items: [Item] = []
    var loose: [Loose] = []
    @Derived(.count(\Shelf.items)) var text: String
    @Derived(.count(\Shelf.loose)) var looseCount: Int
    @Derived(.sum(of: \Item.name, over: \Shelf.items)) var names: String
    @Derived(.sum(of: \Item.size, over: \Shelf.items)) var size: Double
    @Attribute(.unique) @Derived(.modificationDate) var date: Date
    init() {}
  }
  @Model final class Item {
    var name = ""
    var size = 0
    var shelf: Shelf?
    init() {}
  }
  @Model final class Loose {
    init() {}
  }
}

@Suite struct `A derivation` {
  @Test(arguments: [
    ("text", "must be Int"), ("looseCount", "no inverse"), ("names", "no integer, Double or Float"),
    ("size", "is a sum of Int"), ("date", "cannot be .unique"),
  ])
  func `that cannot be is refused with the property and the reason`(name: String, text: String) {
    let error = #expect(throws: SwiftDataError.self) {
      try ModelContainer(
        for: Wrong.Shelf.self,
        Wrong.Item.self,
        Wrong.Loose.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    }
    let problems = (error?.message ?? "").split(separator: ";")
    #expect(problems.contains { $0.contains("Shelf.\(name) ") && $0.contains(text) })
  }

  @Test(arguments: [
    ("Zürich", "zurich"), ("STRASSE", "strasse"), ("Straße", "strasse"), ("Ὀδυσσεύς", "οδυσσευσ"),
    ("İstanbul", "istanbul"), ("e\u{301}", "e"), ("ø", "ø"), ("한국", "한국"), ("हिन्दी", "हिन्दी"), ("", ""),
  ])
  func `of a canonical text folds case and accents, and nothing else`(text: String, folded: String)
  {
    let canonical = Schema.Derivation.canonicalText(of: text)
    #expect(canonical == folded)
    #expect(Schema.Derivation.canonicalText(of: canonical) == canonical)
  }

  /// What a canonical text is, in one piece, which takes the square of the text's length.
  private static func foldedAtOnce(_ text: String) -> String {
    func isMark(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar.value {
      case 0x0300...0x036F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
      default: false
      }
    }
    var folded = String.UnicodeScalarView()
    for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars where !isMark(scalar) {
      let letters = scalar.properties.lowercaseMapping.uppercased().lowercased()
      folded.append(
        contentsOf: letters.decomposedStringWithCanonicalMapping.unicodeScalars.filter {
          !isMark($0)
        }
      )
    }
    return String(folded).precomposedStringWithCanonicalMapping
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `of a text of several pieces is that of the whole`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // Scripts with marks that are sorted, composed, or written as letters.
    let scripts: [ClosedRange<UInt32>] = [
      0x20...0x7E, 0xC0...0x24F, 0x300...0x36F, 0x370...0x52F, 0x591...0x6FF, 0x900...0xDFF,
      0xF00...0xFDA, 0x1000...0x109F, 0x1100...0x11FF, 0xAC00...0xD7A3, 0x1E00...0x1FFE,
      0x3040...0x30FF, 0xF900...0xFAFF, 0x1F300...0x1F6FF,
    ]
    let chosen = (0..<Int.random(in: 1...3, using: &random)).map { _ in
      scripts[Int.random(in: scripts.indices, using: &random)]
    }
    var scalars = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 200...1500, using: &random) {
      let script = chosen[Int.random(in: chosen.indices, using: &random)]
      if let scalar = Unicode.Scalar(UInt32.random(in: script, using: &random)) {
        scalars.append(scalar)
      }
    }
    let text = String(scalars)
    let canonical = Schema.Derivation.canonicalText(of: text)
    #expect(
      Array(canonical.unicodeScalars) == Array(Self.foldedAtOnce(text).unicodeScalars),
      "seed \(seed)"
    )
  }

  /// Each of these took minutes, in the turn of the save, when a text was decomposed as a whole.
  @Test(arguments: [
    ("É", "e"), ("e\u{301}\u{323}", "e"), ("\u{301}\u{323}", ""), ("한", "한"), ("й", "и"),
    ("\u{5BC}\u{5B0}", nil),
  ])
  func `of a long text is made in a time that grows with its length`(part: String, folded: String?)
  {
    let count = 200_000
    let canonical = Schema.Derivation.canonicalText(
      of: "a" + String(repeating: part, count: count)
    )
    if let folded {
      #expect(canonical == "a" + String(repeating: folded, count: count))
    } else {
      #expect(canonical.unicodeScalars.count == 1 + part.unicodeScalars.count * count)
    }
  }
}
