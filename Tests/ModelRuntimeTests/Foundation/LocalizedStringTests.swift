import Foundation
import ModelRuntime
import Testing

@Suite struct `A predicate on a text` {
  struct Note: Sendable {
    var title: String
    var subtitle: String?
  }

  @Test(arguments: [("Über Äpfel", true), ("uber apfel", true), ("Birnen", false)])
  func `contains another as people search`(title: String, expected: Bool) throws {
    let wanted = "ÄPFEL"
    let predicate = #Predicate<Note> { $0.title.localizedStandardContains(wanted) }
    #expect(try predicate.evaluate(Note(title: title)) == expected)
    let optional = #Predicate<Note> { $0.subtitle?.localizedStandardContains("apfel") ?? false }
    #expect(try optional.evaluate(Note(title: "", subtitle: title)) == expected)
    #expect(try !optional.evaluate(Note(title: title)))
  }

  @Test func `is compared without case, and in the user's language`() throws {
    let same = ComparisonResult.orderedSame
    let ascending = ComparisonResult.orderedAscending
    let equal = #Predicate<Note> { $0.title.caseInsensitiveCompare("CAFÉ") == same }
    #expect(try equal.evaluate(Note(title: "café")))
    #expect(try !equal.evaluate(Note(title: "cafe")))
    let before = #Predicate<Note> { $0.title.localizedCompare("b") == ascending }
    #expect(try before.evaluate(Note(title: "Ä")))
    #expect(try !before.evaluate(Note(title: "c")))
  }
}

@Suite struct `A sort descriptor for texts` {
  struct Row: Equatable {
    var name: String
    var nickname: String?
    init(_ name: String, _ nickname: String? = nil) {
      self.name = name
      self.nickname = nickname
    }
  }
  let rows = ["file10", "Zebra", "file2", "äpple", "apple"].map {
    Row($0, $0 == "Zebra" ? nil : $0)
  }

  @Test func `orders by the user's language if that is asked for`() {
    let names = ["apple", "äpple", "file2", "file10", "Zebra"]
    #expect(
      rows.sorted(using: SortDescriptor(\.name, comparator: .localizedStandard)).map(\.name)
        == names
    )
    #expect(
      rows.sorted(using: SortDescriptor(\Row.name, comparator: .localizedStandard, order: .reverse))
        .map(\.name) == names.reversed()
    )
    #expect(
      rows.sorted(using: SortDescriptor(\.name, comparator: .localized)).map(\.name)
        == ["apple", "äpple", "file10", "file2", "Zebra"]
    )
    #expect(
      rows.sorted(using: KeyPathComparator(\.name, comparator: .localizedStandard)).map(\.name)
        == names
    )
    #expect(rows.map(\.name).sorted(using: .localizedStandard) == names)
  }

  @Test func `puts what is missing first`() {
    #expect(
      rows.sorted(using: SortDescriptor(\.nickname, comparator: .localizedStandard))
        .map(\.nickname) == [nil, "apple", "äpple", "file2", "file10"]
    )
    #expect(
      rows.sorted(using: SortDescriptor(\.nickname, comparator: .localized, order: .reverse))
        .map(\.nickname) == ["file2", "file10", "äpple", "apple", nil]
    )
  }

  @Test func `orders by code points and keeps its path in every other form`() {
    for descriptor in [
      SortDescriptor(\Row.name), SortDescriptor(\Row.name, order: .forward),
      SortDescriptor(\Row.name, comparator: .lexical),
    ] {
      #expect(
        rows.sorted(using: descriptor).map(\.name)
          == ["Zebra", "apple", "file10", "file2", "äpple"]
      )
      #expect(descriptor.keyPath == \Row.name)
    }
  }

  @Test func `is recognised by the texts it is about`() throws {
    let descriptor = SortDescriptor(\Row.name, comparator: .localizedStandard)
    let path = try #require(descriptor.keyPath)
    #expect(path.leadsToLocalizedSortKey)
    #expect(path.localizedSortRule(over: \Row.name) == .localizedStandard)
    #expect(path.localizedSortRule(over: \Row.nickname) == nil)
    #expect(!(\Row.name as AnyKeyPath).leadsToLocalizedSortKey)
    let other = SortDescriptor(\Row.nickname, comparator: .localized, order: .reverse)
    #expect(other.keyPath?.localizedSortRule(over: \Row.nickname) == .localized)
    #expect(other.keyPath?.leadsToLocalizedSortKey == true)
  }
}
