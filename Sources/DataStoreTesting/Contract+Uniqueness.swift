import Foundation
import ModelRuntime

extension DataStoreContract {
  /// Values that are unique stay so.
  static let uniqueness: [Clause] = [
    Clause("A store keeps one model for each unique value", of: .uniqueness) { stage in
      try stage.steps(
        { context in
          let first = Member("ann", name: "Ann")
          context.insert(first)
          try context.save()
          let identifier = first.persistentModelID
          let again = Member("ann", name: "Anna")
          context.insert(again)
          try context.save()
          try expect(again.persistentModelID, identifier, "the identifier of the second insert")
          try expect(first.name, "Anna", "the name of the object that was there")
        },
        { context in
          context.insert(Member("ann", name: "Annabel"))
          context.insert(Member("bob", name: "Bob"))
          context.insert(Member("bob", name: "Bobby"))
          try context.save()
        },
        { context in
          let names = try context.fetch(FetchDescriptor<Member>()).map(\.name).sorted()
          try expect(names, ["Annabel", "Bobby"], "who is there")
        }
      )
    },
    Clause("A store keeps the relationships of a model that was inserted again", of: .uniqueness) {
      stage in
      try stage.steps(
        { context in
          let member = Member("ann", name: "Ann")
          member.loans = [Loan("first")]
          context.insert(member)
          try context.save()
        },
        { context in
          let member = Member("ann", name: "Anna")
          member.loans = [Loan("second")]
          context.insert(member)
          try context.save()
        },
        { context in
          let member = try require(try context.fetch(FetchDescriptor<Member>()).first, "the member")
          try expect(member.loans.map(\.title), ["first", "second"], "the loans")
        }
      )
    },
    Clause("A store lets go of unique values that are changed or deleted", of: .uniqueness) {
      stage in
      let context = try stage.open()
      let ann = Member("ann", name: "Ann")
      let bob = Member("bob", name: "Bob")
      context.insert(ann)
      context.insert(bob)
      try context.save()
      ann.code = "bob"
      bob.code = "ann"
      try context.save()
      context.delete(ann)
      context.insert(Member("bob", name: "Robert"))
      try context.save()
      let names = try ModelContext(context.container).fetch(FetchDescriptor<Member>()).map(\.name)
      try expect(names.sorted(), ["Bob", "Robert"], "who is there")
    },
  ]
}
