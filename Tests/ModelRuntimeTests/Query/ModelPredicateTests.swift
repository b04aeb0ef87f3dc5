// swift-format-ignore-file: NeverForceUnwrap
// The forced unwraps below are part of what is tested.

import Foundation
import Testing

@testable import ModelRuntime

/// What only our `#Predicate` takes, over rows and over objects.
@Suite struct `A predicate on models` {
  private let world: RandomItems

  init() throws { world = try RandomItems(seed: 11) }

  /// Checks that rows, objects and Foundation answer as a closure does.
  private func check<T: PersistentModel>(
    _ name: Comment,
    _ predicate: Predicate<T>,
    means closure: (T) throws -> Bool
  ) throws {
    let objects = world.fixture.models.compactMap { $0 as? T }
    let expected = objects.filter { (try? closure($0)) ?? false }
    let evaluated = objects.filter { (try? predicate.evaluate($0)) ?? false }
    #expect(
      evaluated.map { ObjectIdentifier($0) } == expected.map { ObjectIdentifier($0) },
      name
    )
    try expectAgreement(predicate, in: world)
  }

  @Test func `has others inside, which are answered with it`() throws {
    let small = #Predicate<Folder> { $0.size < 3 }
    let few = #Predicate<Folder> { small.evaluate($0) && $0.items.count < 12 }
    let done = #Predicate<Item> { $0.isDone }
    let some: Predicate<Folder>? = small
    let none: Predicate<Folder>? = nil
    try check("alone", #Predicate<Folder> { small.evaluate($0) }) { $0.size < 3 }
    try check("negated", #Predicate<Folder> { !small.evaluate($0) }) { $0.size >= 3 }
    try check("nested", #Predicate<Folder> { few.evaluate($0) || $0.size == 5 }) {
      $0.size < 3 && $0.items.count < 12 || $0.size == 5
    }
    try check("of a member", #Predicate<Folder> { $0.items.contains { done.evaluate($0) } }) {
      $0.items.contains(where: \.isDone)
    }
    try check("optional", #Predicate<Folder> { some?.evaluate($0) ?? false }) { $0.size < 3 }
    try check("optional nil", #Predicate<Folder> { none?.evaluate($0) ?? true }) { _ in true }
    try check("optional compared", #Predicate<Folder> { some?.evaluate($0) != false }) {
      $0.size < 3
    }
    try check("forced", #Predicate<Folder> { some!.evaluate($0) }) { $0.size < 3 }
    try check("forced nil, guarded", #Predicate<Folder> { $0.size < 9 || none!.evaluate($0) }) {
      _ in true
    }
    try check("forced nil", #Predicate<Folder> { $0.size < 2 || none!.evaluate($0) }) {
      $0.size < 2
    }
    try check(
      "bound",
      #Predicate<Folder> { folder in if let some { some.evaluate(folder) } else { true } }
    ) { $0.size < 3 }
    try check(
      "bound nil",
      #Predicate<Folder> { folder in if let none { none.evaluate(folder) } else { folder.size > 3 }
      }
    ) { $0.size > 3 }
    try check("mapped", #Predicate<Folder> { folder in some.map { $0.evaluate(folder) } ?? true }) {
      $0.size < 3
    }
    try check("composed", #Predicate<Folder> { (small && !few).evaluate($0) }) {
      $0.size < 3 && $0.items.count >= 12
    }
    try check(
      "through an optional",
      #Predicate<Item> { $0.folder.flatMap { small.evaluate($0) } ?? false }
    ) { $0.folder.map { $0.size < 3 } ?? false }
    try check("forced", #Predicate<Item> { small.evaluate($0.folder!) }) {
      $0.folder.map { $0.size < 3 } ?? false
    }
    try check(
      "bound",
      #Predicate<Item> { item in
        if let folder = item.folder { !few.evaluate(folder) } else { false }
      }
    ) { $0.folder.map { !($0.size < 3 && $0.items.count < 12) } ?? false }
    try check("of a superclass", #Predicate<Errand> { done.evaluate($0) && $0.place > "a" }) {
      $0.isDone && $0.place > "a"
    }
  }

  @Test func `has expressions inside`() throws {
    let count = #Expression<Folder, Int> { $0.items.count }
    let name = #Expression<Folder, String?> { $0.parent?.name }
    let joined = #Expression<Folder, String> { $0.name + ($0.comment ?? "-") }
    let known = world.folders[0].name
    try check("number", #Predicate<Folder> { count.evaluate($0) > 8 }) { $0.items.count > 8 }
    try check("arithmetic", #Predicate<Folder> { count.evaluate($0) * 2 < $0.size + 20 }) {
      $0.items.count * 2 < $0.size + 20
    }
    try check("optional", #Predicate<Folder> { name.evaluate($0) == known }) {
      $0.parent?.name == known
    }
    try check("text", #Predicate<Folder> { joined.evaluate($0).count > 4 }) {
      ($0.name + ($0.comment ?? "-")).count > 4
    }
  }

  @Test func `compares with a model by its identifier`() throws {
    let (folder, other) = (world.folders[0], world.folders[1])
    let some: Folder? = folder
    let none: Folder? = nil
    let pair = [folder, other]
    let item = world.items[4]
    let stranger = Folder(name: "x", size: 1)
    try check("==", #Predicate<Item> { $0.folder == folder }) { $0.folder === folder }
    try check("!=", #Predicate<Item> { $0.folder != folder }) { $0.folder !== folder }
    try check("on the left", #Predicate<Item> { folder == $0.folder }) { $0.folder === folder }
    try check("===", #Predicate<Item> { $0.folder === folder }) { $0.folder === folder }
    try check("optional", #Predicate<Item> { $0.folder == some }) { $0.folder === folder }
    try check("nil", #Predicate<Item> { $0.folder == none }) { $0.folder == nil }
    try check("not nil", #Predicate<Item> { $0.folder != none }) { $0.folder != nil }
    try check("forced", #Predicate<Item> { $0.folder == some! }) { $0.folder === folder }
    try check("forced nil", #Predicate<Item> { $0.folder == none! }) { _ in false }
    try check("both forced", #Predicate<Item> { $0.folder! == some! }) { $0.folder === folder }
    try check("element", #Predicate<Item> { $0.folder == pair[1] }) { $0.folder === other }
    try check("no element", #Predicate<Item> { $0.folder != pair[2] }) { _ in false }
    try check("through", #Predicate<Item> { $0.folder?.parent == folder }) {
      $0.folder?.parent === folder
    }
    try check("itself", #Predicate<Item> { $0 == item || $0.number == 7 }) {
      $0 === item || $0.number == 7
    }
    try check("one of", #Predicate<Item> { $0.folder != nil && pair.contains($0.folder!) }) {
      $0.folder.map(pair.contains) ?? false
    }
    try check("one of, mapped", #Predicate<Item> { $0.folder.map { pair.contains($0) } ?? false }) {
      $0.folder.map(pair.contains) ?? false
    }
    try check("unsaved", #Predicate<Item> { $0.folder == stranger }) { _ in false }
    try check("its value", #Predicate<Item> { $0.title == folder.name || $0.number == folder.size })
    { $0.title == folder.name || $0.number == folder.size }
    let members = other.items
    try check("list", #Predicate<Folder> { $0.items.contains(item) }) { $0.items.contains(item) }
    try check("list, first", #Predicate<Folder> { $0.items.contains(members.first!) }) {
      $0.items.contains(members[0])
    }
    try check("list of the captured", #Predicate<Folder> { folder.children.contains($0) }) {
      folder.children.contains($0)
    }
    try check("parent", #Predicate<Folder> { $0.parent != nil && $0.parent! != other }) {
      $0.parent != nil && $0.parent !== other
    }
  }

  @Test func `has constants of every kind inside`() throws {
    struct Limits {
      var most = 7
      var text: String? = "ab"
      var statuses: [Status] = [.open]
      func least() -> Int { -1 }
    }
    let limits = Limits()
    let search = ""
    let title = "ABC"
    let date = Samples.dates[3]
    let numbers = [0, 3]
    let byName = ["a": 3]
    try check("static", #Predicate<Item> { $0.number < Int.max }) { $0.number < Int.max }
    try check("case", #Predicate<Item> { $0.status == Status.open }) { $0.status == .open }
    try check("implicit case", #Predicate<Item> { $0.status == .open }) { $0.status == .open }
    try check("implicit, optional", #Predicate<Item> { $0.rank != .high }) { $0.rank != .high }
    try check("implicit, many", #Predicate<Item> { [.open, .waiting].contains($0.status) }) {
      $0.status != .closed
    }
    try check("member", #Predicate<Item> { $0.number <= limits.most }) { $0.number <= 7 }
    try check("members of a struct", #Predicate<Item> { limits.statuses.contains($0.status) }) {
      $0.status == .open
    }
    try check("optional member", #Predicate<Item> { $0.title == limits.text }) { $0.title == "ab" }
    try check("method", #Predicate<Item> { $0.number > limits.least() }) { $0.number > -1 }
    try check("case of a text", #Predicate<Item> { $0.title == title.lowercased() }) {
      $0.title == "abc"
    }
    try check("interpolation", #Predicate<Item> { $0.title == "a\(limits.text ?? "")" }) {
      $0.title == "aab"
    }
    try check("distant past", #Predicate<Item> { $0.due > Date.distantPast }) { _ in true }
    try check("earlier", #Predicate<Item> { $0.due > date - 0.75 * 2 }) { $0.due > date - 1.5 }
    try check("column later", #Predicate<Item> { $0.due + 1 > date }) { $0.due + 1 > date }
    try check("no search", #Predicate<Item> { search.isEmpty || $0.title.contains(search) }) { _ in
      true
    }
    try check("both texts", #Predicate<Item> { ($0.title + "b").contains("ab") }) {
      ($0.title + "b").contains("ab")
    }
    try check("element", #Predicate<Item> { $0.number == numbers[1] }) { $0.number == 3 }
    try check("no element", #Predicate<Item> { $0.number == numbers[2] }) { _ in false }
    try check(
      "no element, guarded",
      #Predicate<Item> { numbers.count > 2 && $0.number == numbers[2] || $0.number == 1 }
    ) { $0.number == 1 }
    try check(
      "dictionary",
      #Predicate<Item> { $0.number == byName["a"] || $0.count == byName["b"] }
    ) { $0.number == 3 || $0.count == nil }
    try check("optional and not", #Predicate<Item> { $0.count == $0.number }) {
      $0.count == $0.number
    }
    try check("not and optional", #Predicate<Item> { $0.title != $0.note }) { $0.title != $0.note }
  }

  @Test func `has statements that come down to one expression`() throws {
    let limit = 3
    try check(
      "let",
      #Predicate<Item> { item in
        let most = limit * 2
        let number = item.number
        return number < most && number > -most
      }
    ) { $0.number < 6 && $0.number > -6 }
    try check(
      "guard",
      #Predicate<Item> { item in
        guard let folder = item.folder, !item.isDone else { return item.number == 7 }
        return folder.size > limit
      }
    ) { ($0.folder != nil && !$0.isDone) ? $0.folder!.size > 3 : $0.number == 7 }
    try check(
      "early returns",
      #Predicate<Item> { item in
        if item.isDone { return false }
        if item.number > limit {
          return true
        } else if item.number < 0 {
          return item.title.isEmpty
        }
        return item.count == nil
      }
    ) { !$0.isDone && ($0.number > 3 || ($0.number < 0 ? $0.title.isEmpty : $0.count == nil)) }
    try check(
      "if with several conditions",
      #Predicate<Item> { item in
        if let count = item.count, let score = item.score, count > limit {
          score > 0
        } else {
          item.isDone
        }
      }
    ) { item in
      if let count = item.count, let score = item.score, count > 3 {
        score > 0
      } else {
        item.isDone
      }
    }
  }

  @Test func `chains through optionals with the outer model inside`() throws {
    try check("argument", #Predicate<Item> { $0.folder?.name.starts(with: $0.title) ?? false }) {
      $0.folder?.name.starts(with: $0.title) ?? false
    }
    try check(
      "closure",
      #Predicate<Item> { item in
        item.folder?.items.contains { $0.number == item.number && $0.isDone } == true
      }
    ) { item in item.folder?.items.contains { $0.number == item.number && $0.isDone } == true }
    try check("key path", #Predicate<Item> { $0.folder?.items.allSatisfy(\.isDone) ?? true }) {
      $0.folder?.items.allSatisfy(\.isDone) ?? true
    }
    let names: [String]? = ["a", "abc"]
    let none: [String]? = nil
    try check("captured list", #Predicate<Folder> { names?.contains($0.name) ?? true }) {
      ["a", "abc"].contains($0.name)
    }
    try check("no captured list", #Predicate<Folder> { none?.contains($0.name) ?? true }) { _ in
      true
    }
  }
}
