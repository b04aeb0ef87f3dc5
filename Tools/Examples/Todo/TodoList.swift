import SwiftData

/// The commands' work on the models; each change is saved when it returns.
struct TodoList {
  let context: ModelContext

  init(_ container: ModelContainer) { context = ModelContext(container) }

  /// A filter for the todos to show.
  struct Filter {
    var isDone = false
    var label: String?
    var dueBefore: Date?
  }

  func add(_ title: String, due: Date? = nil, labels: [String] = []) throws -> Todo {
    let newest = try context.aggregate(FetchDescriptor<Todo>(), .maximum(\.number))
    let todo = Todo(number: (newest ?? 0) + 1, title: title, due: due)
    context.insert(todo)
    for name in Set(labels) { todo.labels.append(try label(name)) }
    try context.save()
    return todo
  }

  /// The label of a name, which is made if there is none.
  private func label(_ name: String) throws -> Label {
    var named = FetchDescriptor<Label>(predicate: #Predicate { $0.name == name })
    named.fetchLimit = 1
    if let label = try context.fetch(named).first { return label }
    let label = Label(name: name)
    context.insert(label)
    return label
  }

  /// The todos that are open, or done, the most urgent first; those without a date come last.
  func todos(_ filter: Filter = Filter()) throws -> [Todo] {
    let (isDone, label, limit) = (
      filter.isDone, filter.label ?? "", filter.dueBefore ?? .distantFuture
    )
    let (anyLabel, anyDate) = (filter.label == nil, filter.dueBefore == nil)
    let wanted = #Predicate<Todo> { todo in
      (todo.done != nil) == isDone
        && (anyLabel || todo.labels.contains { $0.name == label })
        && (anyDate || (todo.due ?? limit) < limit)
    }
    return try context.fetch(FetchDescriptor(predicate: wanted, sortBy: [SortDescriptor(\.number)]))
      .sorted { ($0.due ?? .distantFuture, $0.number) < ($1.due ?? .distantFuture, $1.number) }
  }

  /// Marks todos as done.
  ///
  /// - Returns: The todos, and the numbers that no todo has.
  func finish(_ numbers: [Int], at time: Date) throws -> (todos: [Todo], missing: [Int]) {
    let found = try todos(numbered: numbers)
    for todo in found where todo.done == nil { todo.done = time }
    try context.save()
    return (found, missing(numbers, among: found))
  }

  /// Removes todos, and labels that are on nothing any more.
  ///
  /// - Returns: The number of todos removed, and the numbers that no todo has.
  func remove(_ numbers: [Int]) throws -> (count: Int, missing: [Int]) {
    let found = try todos(numbered: numbers)
    let lacking = missing(numbers, among: found)
    for todo in found { context.delete(todo) }
    try context.save()
    for label in try context.fetch(FetchDescriptor<Label>()) where label.todos.isEmpty {
      context.delete(label)
    }
    try context.save()
    return (found.count, lacking)
  }

  /// The labels with the number of open todos on each, by name.
  func labels() throws -> [(name: String, count: Int)] {
    try context.fetch(FetchDescriptor<Label>(sortBy: [SortDescriptor(\.name)]))
      .map { label in (label.name, label.todos.count { $0.done == nil }) }
  }

  private func todos(numbered numbers: [Int]) throws -> [Todo] {
    try context.fetch(
      FetchDescriptor<Todo>(
        predicate: #Predicate { numbers.contains($0.number) },
        sortBy: [SortDescriptor(\.number)]
      )
    )
  }

  private func missing(_ numbers: [Int], among found: [Todo]) -> [Int] {
    let known = Set(found.map(\.number))
    return numbers.filter { !known.contains($0) }
  }
}
