import Foundation
import SwiftData
import Testing

@Suite struct `Questions of an app` {
  enum Moment: CaseIterable { case saved, pending }

  private let now = Date(timeIntervalSinceReferenceDate: 800_000_000)

  /// Three courses, which are saved, or were never saved.
  private func open(_ kind: TestStore.Kind, _ moment: Moment) throws -> (TestStore, ModelContext) {
    let store = try TestStore(kind, Teacher.self, Course.self, Enrolment.self)
    let context = store.makeContext()
    let (ada, bob) = (Teacher(name: "Ada"), Teacher(name: "Bob"))
    let day: TimeInterval = 24 * 3600
    let algebra = Course(title: "Algebra", starts: now + day, seats: 1, state: .open)
    let botany = Course(title: "Botany", starts: now + 30 * day, seats: 5, state: .open)
    let chess = Course(title: "Chess", starts: now + 2 * day, seats: 3, state: .closed)
    for model: any PersistentModel in [ada, bob, algebra, botany, chess] { context.insert(model) }
    algebra.teacher = ada
    botany.teacher = bob
    chess.teacher = ada
    for (student, course) in [("Eve", algebra), ("Fay", chess), ("Gus", botany)] {
      let enrolment = Enrolment(student: student)
      context.insert(enrolment)
      enrolment.course = course
    }
    if moment == .saved { try context.save() }
    return (store, context)
  }

  private func teacher(_ name: String, in context: ModelContext) throws -> Teacher {
    try #require(
      try context.fetch(FetchDescriptor<Teacher>(predicate: #Predicate { $0.name == name })).first
    )
  }

  @Test(arguments: TestStore.Kind.allCases, Moment.allCases)
  func `are answered of what is saved and what is not`(
    kind: TestStore.Kind,
    moment: Moment
  ) throws {
    let (store, context) = try open(kind, moment)
    defer { withExtendedLifetime(store) {} }
    let courses = Courses(context: context)
    let ada = try teacher("Ada", in: context)
    #expect(try courses.taught(by: ada) == ["Algebra", "Chess"])
    #expect(try courses.taught(by: Teacher(name: "nobody")) == [])
    #expect(try courses.others(than: ada.courses[0]) == ["Botany", "Chess"])
    #expect(try courses.open(in: now) == ["Algebra"])
    #expect(try courses.full() == ["Algebra"])
    #expect(try courses.students(of: Course.open) == ["Eve", "Gus"])
    #expect(try courses.attended(ada.courses.flatMap(\.enrolments)) == ["Algebra", "Chess"])
    #expect(try courses.bookable(from: now) == ["Botany"])
    #expect(try known(ada.courses, in: context) == 2)
    var filter = CourseFilter()
    #expect(try courses.titles(filter.predicate) == ["Algebra", "Botany", "Chess"])
    filter.teacher = ada
    #expect(try courses.titles(filter.predicate) == ["Algebra", "Chess"])
    filter.states = [.open, .draft]
    #expect(try courses.titles(filter.predicate) == ["Algebra"])
    filter = CourseFilter(text: "a", extra: #Predicate { $0.seats > 1 })
    #expect(try courses.titles(filter.predicate) == ["Botany"])
  }

  @Test(arguments: [TestStore.Kind.memory, .file])
  func `are answered by rows, and not by objects`(kind: TestStore.Kind) throws {
    let (store, context) = try open(kind, .saved)
    defer { withExtendedLifetime(store) {} }
    let ada = try teacher("Ada", in: context)
    let soon = Course.soon(now)
    let filter = CourseFilter(text: "a", teacher: ada, states: [.open], extra: soon)
    for predicate in [
      filter.predicate,
      #Predicate { $0.teacher == ada && !soon.evaluate($0) },
      #Predicate { course in ada.courses.contains(course) },
    ] {
      #expect(try context.explain(FetchDescriptor(predicate: predicate)).filteredBy == .store)
    }
  }

  @Test func `name a model by the identifier that it had when they were asked`() throws {
    let (store, context) = try open(.memory, .pending)
    defer { withExtendedLifetime(store) {} }
    let courses = Courses(context: context)
    let ada = try teacher("Ada", in: context)
    let before = #Predicate<Course> { $0.teacher == ada }
    #expect(try courses.titles(before) == ["Algebra", "Chess"])
    try context.save()
    #expect(try courses.titles(before) == [])
    #expect(try courses.taught(by: ada) == ["Algebra", "Chess"])
  }

  @Test func `of anything but models are Foundation's`() throws {
    let even = #Predicate<Int> { $0 % 2 == 0 }
    let longer = #Predicate<String, Int> { $0.count > $1 }
    #expect(try even.evaluate(4) && !even.evaluate(3))
    #expect(try longer.evaluate("abc", 2))
    let bigger = #Predicate<Course, Int> { course, seats in course.seats > seats }
    #expect(try bigger.evaluate(Course(title: "", starts: now, seats: 3), 2))
  }

  @Test func `may be of two models`() throws {
    let sooner = #Predicate<Course, Course> { $0.starts < $1.starts && $0.teacher == $1.teacher }
    let (first, second) = (
      Course(title: "", starts: now, seats: 3), Course(title: "", starts: now + 1, seats: 3)
    )
    #expect(try sooner.evaluate(first, second))
    #expect(try !sooner.evaluate(second, first))
  }
}
