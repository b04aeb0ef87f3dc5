import Foundation
import SwiftData

// A task list: everything small and ordinary, as most first apps are.

@Model
class TodoList {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \TodoItem.list) var items: [TodoItem]

  init(name: String, items: [TodoItem] = []) {
    self.name = name
    self.items = items
  }

  var open: [TodoItem] { items.filter { !$0.isDone } }
  var progress: Double {
    items.isEmpty ? 0 : Double(items.count - open.count) / Double(items.count)
  }
}

@Model
class TodoItem: Comparable {
  enum Priority: Int, Codable, CaseIterable { case low = 1, medium, high }

  var title: String
  var notes = ""
  var dueDate: Date?
  var isDone: Bool = false
  var priority: Priority = Priority.medium
  var timestamp = Date()
  var `repeat`: Repeat? = nil
  var list: TodoList?
  var subtasks: [String] = []

  struct Repeat: Codable { var every: Int = 1, unit = "day" }

  init(_ title: String, due dueDate: Date? = nil, priority: Priority = .medium) {
    (self.title, self.dueDate) = (title, dueDate)
    self.priority = priority
  }

  func toggle() { isDone.toggle() }

  static func < (lhs: TodoItem, rhs: TodoItem) -> Bool {
    (lhs.dueDate ?? .distantFuture, lhs.title) < (rhs.dueDate ?? .distantFuture, rhs.title)
  }
}

struct TodoFilter {
  var onlyOpen = true
  var dueBefore: Date?
  var text = ""

  var predicate: Predicate<TodoItem> {
    let onlyOpen = onlyOpen
    let text = text
    let limit = dueBefore ?? .distantFuture
    return #Predicate<TodoItem> { item in
      (!onlyOpen || !item.isDone)
        && (text.isEmpty || item.title.contains(text))
        && (item.dueDate ?? limit) <= limit
    }
  }
}

func overdue(in context: ModelContext, at date: Date = .now) throws -> Int {
  try context.fetchCount(
    FetchDescriptor<TodoItem>(
      predicate: #Predicate { item in
        if let due = item.dueDate { due < date && !item.isDone } else { false }
      }
    )
  )
}
