import SwiftData

extension Schedule {
  /// The schedule as the body of a test that imports the simulator's models.
  var swift: String {
    var printer = SwiftPrinter(self)
    return printer.print()
  }
}

/// Writes a schedule as a program would be written.
private struct SwiftPrinter {
  private let schedule: Schedule
  private let kinds: [Int: Kind]
  private var lines: [String] = []
  /// The models that have a name, by context.
  private var named: [Int: Set<Int>] = [:]

  init(_ schedule: Schedule) {
    self.schedule = schedule
    var kinds: [Int: Kind] = [:]
    for case .insert(let kind, let key, _) in schedule.operations.map(\.action) {
      kinds[key] = kind
    }
    self.kinds = kinds
  }

  mutating func print() -> String {
    let setting = schedule.setting
    let place =
      setting.onDisk
      ? "ModelConfiguration(url: folder)"
      : "ModelConfiguration(\"store\", isStoredInMemoryOnly: true)"
    let made = "try ModelContainer(for: simulatedSchema, configurations: \(place))"
    lines.append("let container = \(made)")
    if setting.containerCount > 1 { lines.append("let otherContainer = \(made)") }
    let used = Set(schedule.operations.map(\.context))
    for (index, context) in setting.contexts.enumerated() where used.contains(index) {
      let name = contextName(index)
      let container = context.container == 0 ? "container" : "otherContainer"
      lines.append("let \(name) = ModelContext(\(container))")
      if context.merges { lines.append("\(name).automaticallyMergesChanges = true") }
      if context.undoes { lines.append("\(name).undoManager = UndoManager()") }
      if context.autosaves { lines.append("\(name).autosaveEnabled = true") }
      if context.observes { lines.append("// an observer of all players, by key, in \(name)") }
    }
    if setting.threadCount == 0 {
      for operation in schedule.operations { print(operation) }
    } else {
      for operation in schedule.operations where operation.context == 0 { print(operation) }
      for (number, steps) in schedule.threads.enumerated() where !steps.isEmpty {
        lines.append("// thread \(number + 1)")
        for operation in steps { print(operation) }
      }
    }
    return lines.joined(separator: "\n")
  }

  private func contextName(_ context: Int) -> String {
    let names = ["x", "y", "z"]
    return names.indices.contains(context) ? names[context] : "context\(context)"
  }

  private func typeName(_ key: Int) -> String { kinds[key]?.typeName ?? "Team" }

  /// The program's expression for a model; it is found first, if it has no name yet.
  private mutating func model(_ key: Int?, _ operation: Operation) -> String {
    guard let key else { return "nil" }
    let context = contextName(operation.context)
    let found = "try \(context).find(\(typeName(key)).self, \(key))"
    guard operation.access == .held else { return "\(found)" }
    if named[operation.context, default: []].insert(key).inserted {
      lines.append("let \(context)\(key) = \(found)")
    }
    return "\(context)\(key)"
  }

  private func end(_ relation: Relation, _ end: End) -> String {
    end == .owner ? relation.ownerEnd : relation.memberEnd
  }

  private mutating func print(_ operation: Operation) {
    let context = contextName(operation.context)
    func say(_ line: String) { lines.append(line) }
    switch operation.action {
    case .insert(let kind, let key, let insertion): printInsertion(kind, key, insertion, operation)
    case .set(let key, let attribute, let value):
      let value = attribute == .note ? "\"n\(value)\"" : "\(value)"
      lines.append("\(model(key, operation)).\(attribute.rawValue) = \(value)")
    case .delete(let key): lines.append("\(context).delete(\(model(key, operation)))")
    case .deleteWhere(let kind, let group):
      let predicate = "#Predicate { $0.group == \(group) }"
      lines.append("try \(context).delete(model: \(kind.typeName).self, where: \(predicate))")
    case .link(let relation, let member, let owner):
      let member = model(member, operation)
      lines.append("\(member).\(relation.memberEnd) = \(model(owner, operation))")
    case .linkPartner(let relation, let owner, let member):
      let owner = model(owner, operation)
      lines.append("\(owner).\(relation.ownerEnd) = \(model(member, operation))")
    case .append(let relation, let side, let key, let other):
      let list = "\(model(key, operation)).\(end(relation, side))"
      lines.append("\(list).append(\(model(other, operation)))")
    case .insertAt(let relation, let side, let key, let other, let place):
      let list = "\(model(key, operation)).\(end(relation, side))"
      lines.append("\(list).insert(\(model(other, operation)), at: \(place))")
    case .remove(let relation, let side, let key, let other):
      let list = "\(model(key, operation)).\(end(relation, side))"
      lines.append("\(list).removeAll { $0 === \(model(other, operation)) }")
    case .assign(let relation, let side, let key, let others):
      let list = "\(model(key, operation)).\(end(relation, side))"
      var names: [String] = []
      for other in others { names.append(model(other, operation)) }
      lines.append("\(list) = [\(names.joined(separator: ", "))]")
    case .fetch(let query): say("_ = try \(context).\(query.swift)")
    case .look: say("try \(context).readEverything()")
    case .save: say("try \(context).save()")
    case .rollback: say("\(context).rollback()")
    case .process: say("\(context).processPendingChanges()")
    case .undo: say("\(context).undoManager?.undo()")
    case .redo: say("\(context).undoManager?.redo()")
    case .release:
      say("// all models of \(context) are let go of")
      named[operation.context] = []
    case .renew:
      say("// \(context) is let go of, and made anew")
      named[operation.context] = []
    case .compact: say("try container.compactStores()")
    case .history: say("// the history is read from where it was last read")
    case .reopen:
      say("// everything is let go of, and the store opened again")
      named = [:]
    }
  }

  private mutating func printInsertion(
    _ kind: Kind,
    _ key: Int,
    _ insertion: Operation.Insertion,
    _ operation: Operation
  ) {
    let context = contextName(operation.context)
    let new = "\(context)\(key)"
    var owner: String?
    var relation: Relation?
    switch insertion {
    case .plain: break
    case .linkedBefore(let link, let key), .linkedAfter(let link, let key),
      .linkedOnly(let link, let key), .appended(let link, let key):
      owner = model(key, operation)
      relation = link
    }
    named[operation.context, default: []].insert(key)
    lines.append("let \(new) = \(kind.typeName)(\(key)\(kind == .tag ? ", code: \(key)" : ""))")
    let inserted = "\(context).insert(\(new))"
    guard let owner, let relation else { return lines.append(inserted) }
    let joined =
      relation.shape == .manyToMany
      ? "\(new).\(relation.memberEnd).append(\(owner))" : "\(new).\(relation.memberEnd) = \(owner)"
    switch insertion {
    case .plain: break
    case .linkedBefore: lines += [joined, inserted]
    case .linkedAfter: lines += [inserted, joined]
    case .linkedOnly: lines.append(joined)
    case .appended:
      lines.append(
        relation.shape == .oneToOne
          ? "\(owner).\(relation.ownerEnd) = \(new)"
          : "\(owner).\(relation.ownerEnd).append(\(new))"
      )
    }
  }
}

extension Query {
  /// The call of a context that answers.
  var swift: String {
    let name =
      switch call {
      case .fetch: "fetch"
      case .count: "fetchCount"
      case .identifiers: "fetchIdentifiers"
      case .enumerate: "enumerate"
      }
    if case .word(let word) = condition {
      return "search(FetchDescriptor<\(kind.typeName)>(), for: \"n\(word)\", in: \\.note)"
    }
    var parts: [String] = []
    switch condition {
    case .all, .word: break
    case .key(let key): parts.append("predicate: #Predicate { $0.key == \(key) }")
    case .group(let group): parts.append("predicate: #Predicate { $0.group == \(group) }")
    case .value(let value): parts.append("predicate: #Predicate { $0.value == \(value) }")
    case .valueAbove(let value): parts.append("predicate: #Predicate { $0.value > \(value) }")
    case .groupAndValueAbove(let group, let value):
      parts.append("predicate: #Predicate { $0.group == \(group) && $0.value > \(value) }")
    }
    switch sort {
    case .none: break
    case .key: parts.append("sortBy: [.init(\\.key)]")
    case .value: parts.append("sortBy: [.init(\\.value), .init(\\.key)]")
    case .groupDescending:
      parts.append("sortBy: [.init(\\.group, order: .reverse), .init(\\.key)]")
    }
    let page = [limit.map { "limit \($0)" }, offset.map { "offset \($0)" }].compactMap { $0 }
    let note = page.isEmpty ? "" : "  // \(page.joined(separator: ", "))"
    return "\(name)(FetchDescriptor<\(kind.typeName)>(\(parts.joined(separator: ", "))))\(note)"
  }
}

// MARK: What a printed schedule calls

extension ModelContext {
  /// A model of the simulator's schema, by its key.
  ///
  /// - Throws: What fetching throws; ``Violation`` if there is none.
  func find<M: SimulatedModel>(_: M.Type, _ key: Int) throws -> M {
    guard let kind = Kind.allCases.first(where: { $0.type == M.self }),
      let found = try kind.driver.model(key, in: self) as? M
    else { throw Violation(.missingModel, "\(M.self) \(key) was not found") }
    return found
  }

  /// Fetches every model of the simulator's schema, and reads both ends of every relationship.
  ///
  /// - Throws: What fetching throws.
  func readEverything() throws {
    for kind in Kind.allCases {
      guard case .models(let models) = try kind.driver.run(Query(kind: kind), in: self) else {
        continue
      }
      for model in models {
        for relation in Relation.allCases {
          _ = relation.owner(of: model)
          for end in [End.owner, .member] { _ = relation.list(end, of: model) }
        }
      }
    }
  }
}
