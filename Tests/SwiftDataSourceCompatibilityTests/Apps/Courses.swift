import Foundation
import SwiftData

// An app's layer of questions, as people write them: predicates put together, models captured, constants inside.

@Model
final class Teacher {
  var name: String
  @Relationship(inverse: \Course.teacher) var courses: [Course] = []

  init(name: String) { self.name = name }
}

enum CourseState: String, Codable, CaseIterable { case draft, open, closed }

@Model
final class Course {
  var title: String
  var starts: Date
  var seats: Int
  var state = CourseState.draft
  var teacher: Teacher?
  @Relationship(deleteRule: .cascade, inverse: \Enrolment.course) var enrolments: [Enrolment] = []

  init(title: String, starts: Date, seats: Int, state: CourseState = .draft) {
    self.title = title
    self.starts = starts
    self.seats = seats
    self.state = state
  }

  static let open = #Predicate<Course> { $0.state == .open }

  static func soon(_ now: Date) -> Predicate<Course> {
    #Predicate { $0.starts > now && $0.starts < now + 7 * 24 * 3600 }
  }
}

@Model
final class Enrolment {
  var student: String
  var course: Course?

  init(student: String) { self.student = student }
}

struct CourseFilter {
  var text = ""
  var teacher: Teacher?
  var states: [CourseState] = []
  var extra: Predicate<Course>?

  /// Everything that is set must hold.
  var predicate: Predicate<Course> {
    let hasTeacher = teacher != nil
    return #Predicate { course in
      (text.isEmpty || course.title.localizedStandardContains(text))
        && (!hasTeacher || course.teacher == teacher)
        && (states.isEmpty || states.contains(course.state))
        && (extra?.evaluate(course) ?? true)
    }
  }
}

struct Courses {
  let context: ModelContext

  func titles(_ predicate: Predicate<Course>) throws -> [String] {
    try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.title)]))
      .map(\.title)
  }

  func taught(by teacher: Teacher) throws -> [String] {
    try titles(#Predicate { $0.teacher == teacher })
  }

  func others(than course: Course) throws -> [String] { try titles(#Predicate { $0 != course }) }

  func open(in week: Date) throws -> [String] {
    let (open, soon) = (Course.open, Course.soon(week))
    return try titles(#Predicate { open.evaluate($0) && soon.evaluate($0) })
  }

  func full() throws -> [String] {
    let taken = #Expression<Course, Int> { $0.enrolments.count }
    return try titles(#Predicate { taken.evaluate($0) >= $0.seats && $0.seats < Int.max })
  }

  func students(of predicate: Predicate<Course>) throws -> [String] {
    let enrolled = #Predicate<Enrolment> { enrolment in
      if let course = enrolment.course { predicate.evaluate(course) } else { false }
    }
    return try context.fetch(FetchDescriptor(predicate: enrolled)).map(\.student).sorted()
  }

  func attended(_ enrolments: [Enrolment]) throws -> [String] {
    try titles(#Predicate { $0.enrolments.contains { enrolments.contains($0) } })
  }

  func bookable(from day: Date) throws -> [String] {
    try titles(
      #Predicate { course in
        guard let teacher = course.teacher else { return false }
        if course.state == .closed { return false }
        let free = course.seats - course.enrolments.count
        return free > 0 && course.starts >= day && !teacher.name.isEmpty
      }
    )
  }
}

func known<Model: PersistentModel>(_ models: [Model], in context: ModelContext) throws -> Int {
  try context.fetchCount(FetchDescriptor(predicate: #Predicate<Model> { models.contains($0) }))
}
