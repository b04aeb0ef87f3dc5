import Foundation
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
}
