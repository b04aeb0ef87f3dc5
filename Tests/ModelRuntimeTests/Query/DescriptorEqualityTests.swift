import Foundation
import Testing

@testable import ModelRuntime

@Suite struct `A fetch descriptor` {
  /// A predicate, and one that differs from it in one place.
  struct Question<Model: PersistentModel>: Sendable, CustomTestStringConvertible {
    let testDescription: String
    private let make: @Sendable (_ isOther: Bool) -> Predicate<Model>

    init(_ name: String, _ make: @escaping @Sendable (_ isOther: Bool) -> Predicate<Model>) {
      testDescription = name
      self.make = make
    }

    func check() {
      let first = FetchDescriptor(predicate: make(false))
      let others = [FetchDescriptor(predicate: make(true)), FetchDescriptor()]
      // Apart from the expectations, which print what they compare: that cannot be done with every predicate.
      let isItself = first == first
      let isOneMadeAnew = first == FetchDescriptor(predicate: make(false))
      let isAnother = others.contains(first) || others.contains { first == $0 }
      #expect(isItself)
      #expect(isOneMadeAnew)
      #expect(!isAnother)
    }
  }

  @Test(arguments: values + operators + nodes)
  func `equals one that asks the same, and none that asks something else`(
    question: Question<Item>
  ) { question.check() }

  /// What differs is a value or a property.
  static let values: [Question<Item>] = [
    Question("a property") { isOther in
      isOther ? #Predicate { $0.number == 1 } : #Predicate { $0.small == 1 }
    },
    Question("a property of the same type") { isOther in
      isOther ? #Predicate { $0.ratio > 1 } : #Predicate { $0.score.flatMap { $0 > 1 } ?? false }
    },
    Question("a property of a reference") { isOther in
      isOther
        ? #Predicate { $0.folder?.name == "a" } : #Predicate { $0.folder?.parent?.name == "a" }
    },
    Question("a property that is not stored") { isOther in
      isOther ? #Predicate { $0.priority.isUrgent } : #Predicate { $0.title.isEmpty }
    },
    Question("the end of a long text") { isOther in
      let text = String(repeating: "long ", count: 20) + (isOther ? "a" : "b")
      return #Predicate { $0.title == text }
    },
    Question("the end of a list") { isOther in
      let numbers = Array(0..<20) + [isOther ? 21 : 20]
      return #Predicate { numbers.contains($0.number) }
    },
    Question("a member of a set") { isOther in
      let numbers = Set(0..<20).union([isOther ? 21 : 20])
      return #Predicate { numbers.contains($0.number) }
    },
    Question("a byte") { isOther in
      let payload = Data(repeating: 1, count: 100) + [isOther ? 1 : 0]
      return #Predicate { $0.payload == payload }
    },
    Question("a date by less than a second") { isOther in
      let date = Date(timeIntervalSinceReferenceDate: isOther ? 0.25 : 0.5)
      return #Predicate { $0.due < date }
    },
    Question("the end of a range") { isOther in
      let range = 0..<(isOther ? 10 : 11)
      return #Predicate { range.contains($0.number) }
    },
    Question("the beginning of a range without an end") { isOther in
      let range = (isOther ? 10 : 11)...
      return #Predicate { range.contains($0.number) }
    },
    Question("an enumeration's case") { isOther in
      let priority: Priority = isOther ? .low : .high
      return #Predicate { $0.priority == priority }
    },
    Question("nil") { isOther in
      let note: String? = isOther ? nil : ""
      return #Predicate { $0.note == note }
    },
  ]

  /// What differs is an operator, or what it is applied to.
  static let operators: [Question<Item>] = [
    Question("a relation") { isOther in
      isOther ? #Predicate { $0.number < 1 } : #Predicate { $0.number <= 1 }
    },
    Question("a sum and a difference") { isOther in
      isOther ? #Predicate { $0.number + 1 == 3 } : #Predicate { $0.number - 1 == 3 }
    },
    Question("nesting") { isOther in
      isOther
        ? #Predicate { $0.isDone && ($0.number > 1 || $0.small > 1) }
        : #Predicate { $0.isDone && $0.number > 1 || $0.small > 1 }
    },
    Question("the order of operands") { isOther in
      isOther ? #Predicate { $0.number / 2 > 1 } : #Predicate { 2 / $0.number > 1 }
    },
    Question("the variable of a closure") { isOther in
      isOther
        ? #Predicate { item in
          item.labels.contains { a in item.labels.contains { b in a.weight > b.weight } }
        }
        : #Predicate { item in
          item.labels.contains { a in item.labels.contains { b in b.weight > a.weight } }
        }
    },
  ]

  /// What differs is in a node that Foundation does not have, and cannot print.
  static let nodes: [Question<Item>] = [
    Question("a search") { isOther in
      let text = isOther ? "a" : "b"
      return #Predicate { $0.title.localizedStandardContains(text) }
    },
    Question("a searched property") { isOther in
      isOther
        ? #Predicate { $0.title.localizedStandardContains("a") }
        : #Predicate { ($0.note ?? "").localizedStandardContains("a") }
    },
    Question("a comparison regardless of case") { isOther in
      let text = isOther ? "a" : "b"
      return #Predicate { $0.title.caseInsensitiveCompare(text) == .orderedSame }
    },
    Question("a comparison in the user's language") { isOther in
      let order = isOther ? ComparisonResult.orderedAscending : .orderedDescending
      return #Predicate { $0.title.localizedCompare("a") == order }
    },
    Question("a regular expression") { isOther in
      isOther ? #Predicate { $0.title.contains(/a+/) } : #Predicate { $0.title.contains(/a*/) }
    },
    Question("a part") { isOther in
      let number = isOther ? 1 : 2
      let (isDone, isFirst) = (
        #Predicate<Item> { $0.isDone }, #Predicate<Item> { $0.number == number }
      )
      return isDone && !isFirst || isDone
    },
    Question("an evaluated predicate") { isOther in
      let isLarge = isOther ? #Predicate<Folder> { $0.size > 1 } : #Predicate { $0.size < 1 }
      return #Predicate { $0.folder.flatMap { isLarge.evaluate($0) } ?? false }
    },
    Question("an evaluated expression") { isOther in
      let next = isOther ? #Expression<Item, Int> { $0.number + 1 } : #Expression { $0.number + 2 }
      return #Predicate { next.evaluate($0) == 3 }
    },
    Question("what is made of a captured optional") { isOther in
      let note: String? = isOther ? "a" : "b"
      return #Predicate { item in note.map { item.title == $0 } ?? true }
    },
    Question("a captured optional that is nil") { isOther in
      let note: String? = isOther ? "a" : nil
      return #Predicate { item in note.map { item.title == $0 } ?? true }
    },
    Question("an interval before a date") { isOther in
      let (date, seconds) = (Date(timeIntervalSinceReferenceDate: 0), isOther ? 60.0 : 61.0)
      return #Predicate { $0.due + seconds < date }
    },
    Question("an interval before and after a date") { isOther in
      let date = Date(timeIntervalSinceReferenceDate: 0)
      return isOther ? #Predicate { $0.due + 60 < date } : #Predicate { $0.due - 60 < date }
    },
    Question("a joined text") { isOther in
      let end = isOther ? "a" : "b"
      return #Predicate { $0.title + end == "a" }
    },
  ]

  @MainActor @Test(arguments: desks)
  func `equals one that asks the same of an actor's models`(question: Question<Desk>) {
    question.check()
  }

  static let desks: [Question<Desk>] = [
    Question("a value") { isOther in
      let name = isOther ? "a" : "b"
      return MainActor.assumeIsolated { #Predicate { $0.name == name } }
    },
    Question("a property") { isOther in
      MainActor.assumeIsolated {
        isOther ? #Predicate { $0.name == "a" } : #Predicate { $0.owner == "a" }
      }
    },
  ]

  @Test func `tells models apart that a predicate names`() {
    let folders = [Folder(name: "", size: 0), Folder(name: "", size: 0)]
    let descriptors = folders.map { folder in
      let id = folder.persistentModelID
      return FetchDescriptor<Item>(predicate: #Predicate { $0.folder?.persistentModelID == id })
    }
    let (isItself, isOther) = (descriptors[0] == descriptors[0], descriptors[0] == descriptors[1])
    #expect(isItself && !isOther)
  }

  @Test func `differs in everything else that it says`() {
    let descriptor = FetchDescriptor<Item>(sortBy: [SortDescriptor(\.title)])
    func changed(_ change: (inout FetchDescriptor<Item>) -> Void) -> FetchDescriptor<Item> {
      var changed = descriptor
      change(&changed)
      return changed
    }
    let sorts: [[SortDescriptor<Item>]] = [
      [], [SortDescriptor(\.note)], [SortDescriptor(\.title, order: .reverse)],
      [SortDescriptor(\.title, comparator: .localizedStandard)],
      [SortDescriptor(\.title), SortDescriptor(\.number)], [SortDescriptor(\.folder?.name)],
      [SortDescriptor(\.folder?.comment)],
    ]
    var others = sorts.map { sort in changed { $0.sortBy = sort } }
    others.append(changed { $0.fetchLimit = 1 })
    others.append(changed { $0.fetchOffset = 1 })
    others.append(changed { $0.includePendingChanges = false })
    others.append(changed { $0.propertiesToFetch = [\.title] })
    others.append(changed { $0.relationshipKeyPathsForPrefetching = [\.folder] })
    others.append(changed { $0.predicate = .true })
    others.insert(changed { _ in }, at: 0)
    for (place, lhs) in others.enumerated() {
      for (otherPlace, rhs) in others.enumerated() {
        #expect((lhs == rhs) == (place == otherPlace), "\(place) and \(otherPlace)")
      }
    }
    #expect(
      FetchDescriptor<Item>(sortBy: [SortDescriptor(\.title, comparator: .localizedStandard)])
        == changed { $0.sortBy = [SortDescriptor(\.title, comparator: .localizedStandard)] }
    )
  }
}

@MainActor @Model final class Desk {
  var name: String
  var owner: String

  init(name: String, owner: String) {
    self.name = name
    self.owner = owner
  }
}
