import SwiftData

@Model
final class Todo {
  /// The number that the user types; given once and never again.
  @Attribute(.unique) var number: Int
  var title: String
  var due: Date?
  var done: Date?
  var labels: [Label] = []

  init(number: Int, title: String, due: Date? = nil) {
    self.number = number
    self.title = title
    self.due = due
  }
}

@Model
final class Label {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \Todo.labels) var todos: [Todo] = []

  init(name: String) { self.name = name }
}
