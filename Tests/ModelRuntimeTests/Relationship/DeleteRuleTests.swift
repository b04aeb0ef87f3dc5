import Foundation
import ModelRuntime
import Testing

@Model final class Department {
  var name: String
  @Relationship(deleteRule: .deny, inverse: \Employee.department) var employees: [Employee] = []

  init(_ name: String) { self.name = name }
}

@Model final class Employee {
  var name: String
  var department: Department?
  @Relationship(deleteRule: .noAction, inverse: \Badge.holder) var badge: Badge?
  @Relationship(minimumModelCount: 1, maximumModelCount: 3, inverse: \Skill.employee)
  var skills: [Skill]? = nil

  init(_ name: String) { self.name = name }
}

@Model final class Badge {
  var number: Int
  var holder: Employee?

  init(_ number: Int) { self.number = number }
}

@Model final class Skill {
  var name: String
  var employee: Employee?

  init(_ name: String) { self.name = name }
}

/// A link of a chain; the last may be linked to the first.
@Model final class Link {
  var number: Int
  @Relationship(deleteRule: .cascade, inverse: \Link.previous) var next: Link?
  var previous: Link?

  init(_ number: Int) { self.number = number }
}

@Suite struct `Delete rules` {
  let container: ModelContainer
  let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Schema([
        Department.self, Employee.self, Badge.self, Skill.self, Link.self,
      ]),
      configurations: [MemoryStore.Configuration()]
    )
    context = ModelContext(container)
  }

  private func makeEmployee(_ name: String) -> Employee {
    let employee = Employee(name)
    employee.skills = [Skill("typing")]
    context.insert(employee)
    return employee
  }

  @Test(arguments: [false, true])
  func `cascade along a chain, and around a ring once`(isRing: Bool) throws {
    let links = (0..<60).map { Link($0) }
    for (link, next) in zip(links, links.dropFirst()) { link.next = next }
    if isRing { links[59].next = links[0] }
    context.insert(links[0])
    try context.save()
    context.delete(links[20])
    #expect(context.deletedModelsArray.count == (isRing ? 60 : 40))
    #expect(links[0].isDeleted == isRing)
    try context.save()
    let rest = try ModelContext(container).fetch(FetchDescriptor<Link>())
    #expect(rest.count == (isRing ? 0 : 20))
    #expect(rest.allSatisfy { ($0.next == nil) == ($0.number == 19) })
  }

  @Test func `deny at the save, and name what is in the way`() throws {
    let department = Department("Research")
    context.insert(department)
    let ann = makeEmployee("Ann")
    let bob = makeEmployee("Bob")
    department.employees = [ann, bob]
    try context.save()
    context.delete(department)
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    let message = error.map { "\($0)" } ?? ""
    #expect(message.contains("employees"))
    #expect(message.contains("\(department.persistentModelID)"))
    #expect(message.contains("2 models are, \(ann.persistentModelID) among them, related to it"))
    #expect(context.deletedModelsArray.count == 1)
    // Nothing is in the way any more: one has gone, the other goes too.
    ann.department = nil
    context.delete(bob)
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Department>()) == 0)
  }

  @Test func `do nothing when there is nothing to do, and what is left reads as nil`() throws {
    let ann = makeEmployee("Ann")
    let badge = Badge(7)
    ann.badge = badge
    try context.save()
    context.delete(ann)
    #expect(badge.holder == nil)
    #expect(context.deletedModelsArray.count == 1)
    try context.save()
    let found = try #require(try ModelContext(container).fetch(FetchDescriptor<Badge>()).first)
    #expect(found.number == 7)
  }

  @Test func `hold for models that were never saved`() throws {
    let links = (0..<3).map { Link($0) }
    links[0].next = links[1]
    links[1].next = links[2]
    context.insert(links[0])
    context.delete(links[1])
    #expect(links[0].next == nil)
    #expect(links[2].isDeleted)
    #expect(context.deletedModelsArray.isEmpty)
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Link>()) == 1)
  }

  @Test(arguments: [0, 1, 3, 4])
  func `leave counts to be checked by the save, which names the limits`(count: Int) throws {
    let ann = Employee("Ann")
    ann.skills = (0..<count).map { Skill("\($0)") }
    context.insert(ann)
    if 1...3 ~= count {
      try context.save()
      return
    }
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    let message = error.map { "\($0)" } ?? ""
    #expect(message.contains("Employee"))
    #expect(message.contains("skills holds \(count) models, expected 1 to 3"))
    #expect(context.hasChanges)
  }
}
