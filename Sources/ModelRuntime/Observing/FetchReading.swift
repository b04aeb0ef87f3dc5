import Foundation
import RowFormat

/// The properties of its models, and of others, that a fetch reads, which determine the changes that can affect its results.
struct FetchReading {
  /// Properties of a class that are read.
  private struct Reading {
    let descriptor: ModelDescriptor
    var properties: ColumnSet

    func isSame(as other: Reading) -> Bool {
      descriptor === other.descriptor && properties == other.properties
    }
  }

  /// The class of the results.
  let subject: ModelDescriptor
  private var own: [Reading] = []
  private var others: [Reading] = []
  /// Whether the fetch calls code that may read anything.
  private(set) var isUnknown = false
  /// The ways to other models whose properties are read: from a result, and, while a predicate is added, from the members of the
  /// lists that its parts are about.
  private var ways = [Ways()]

  /// Ways from a model to others.
  struct Ways {
    var paths: [RowPath] = []
    var lists: [ListWay] = []
  }

  /// The way to the members of a list, and on from there.
  struct ListWay {
    let owner: RowPath
    let property: ModelProperty
    let further: Ways
  }

  /// The ways from a result to other models whose properties are read.
  var waysToOthers: Ways { ways[0] }

  init(of type: any PersistentModel.Type) { subject = .of(type) }

  /// Whether a model's result depends only on its own values, and on which other models exist.
  var isLocal: Bool { !isUnknown && others.allSatisfy(\.properties.isEmpty) }

  /// The classes of the results and of other models that are read, or tested for existence.
  var classes: [ModelDescriptor] { [subject] + own.map(\.descriptor) + others.map(\.descriptor) }

  /// Whether other models are read, or tested for existence.
  var readsOthers: Bool { isUnknown || !others.isEmpty }

  /// Whether another fetch of the same class reads the same properties.
  func isSame(as other: FetchReading) -> Bool {
    subject === other.subject && isUnknown == other.isUnknown
      && own.elementsEqual(other.own) { $0.isSame(as: $1) }
      && others.elementsEqual(other.others) { $0.isSame(as: $1) }
  }

  /// Whether a model's result depends only on its own attributes.
  var isOfOwnAttributes: Bool {
    !readsOthers
      && own.allSatisfy { reading in
        reading.descriptor.relationships.allSatisfy {
          !reading.properties.contains($0.ordinal)
        }
      }
  }

  /// Whether a change of a property can add, remove or move a model.
  func isAffected(by property: Int, of descriptor: ModelDescriptor) -> Bool {
    isUnknown
      || own.contains {
        $0.properties.contains(property) && $0.descriptor.isRelated(to: descriptor)
      }
  }

  /// Whether a change of some properties of a model can add, remove or move it.
  func isAffected(byAnyOf properties: ColumnSet, of descriptor: ModelDescriptor) -> Bool {
    isUnknown
      || own.contains {
        !$0.properties.isDisjoint(with: properties) && $0.descriptor.isRelated(to: descriptor)
      }
  }

  /// Whether a change of a property can add, remove or move *other* models.
  func areOthersAffected(by property: Int, of descriptor: ModelDescriptor) -> Bool {
    isUnknown
      || others.contains {
        $0.properties.contains(property) && $0.descriptor.isRelated(to: descriptor)
      }
  }

  /// Whether a change of some property of a class can add, remove or move other models.
  func areOthersAffected(byAnyOf descriptor: ModelDescriptor) -> Bool {
    isUnknown
      || others.contains { !$0.properties.isEmpty && $0.descriptor.isRelated(to: descriptor) }
  }

  /// Whether inserting or deleting a model of a class can add, remove or move other models.
  func readsOthers(of descriptor: ModelDescriptor) -> Bool {
    isUnknown || others.contains { $0.descriptor.isRelated(to: descriptor) }
  }

  /// Whether changes of some properties of a class can add, remove or move other models.
  func areOthersAffected(byAnyOf properties: ColumnSet, of descriptor: ModelDescriptor) -> Bool {
    isUnknown
      || others.contains {
        !$0.properties.isDisjoint(with: properties) && $0.descriptor.isRelated(to: descriptor)
      }
  }

  /// What is read of the results alone.
  var ofResults: FetchReading {
    var reading = self
    reading.others = []
    return reading
  }
}

extension FetchReading {
  /// What a fetch reads.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - expression: Its translated predicate; `nil` also for one that has no form over rows.
  init<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, _ expression: QueryExpression?) {
    self.init(descriptor, expression, try? RowOrdering(descriptor.sortBy))
  }

  /// The same, where the sort is translated, too, if it has a form over rows.
  init<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ expression: QueryExpression?,
    _ ordering: RowOrdering?
  ) {
    self.init(of: T.self)
    if descriptor.predicate != nil {
      if let expression { add(expression) } else { addAnything() }
    }
    if let ordering {
      for key in ordering.keys { add(key.source, [subject]) }
    } else {
      add(descriptor.sortBy)
    }
  }

  mutating func add<T>(_ predicate: Predicate<T>) where T: PersistentModel {
    guard let expression = try? QueryExpression(predicate) else { return addAnything() }
    add(expression)
  }

  mutating func add(_ expression: QueryExpression) { add(expression, levels: [subject]) }

  /// Records that the fetch calls code that may read anything.
  mutating func addAnything() { isUnknown = true }

  mutating func add<T>(_ sort: [SortDescriptor<T>]) where T: PersistentModel {
    for descriptor in sort {
      if let ordering = try? RowOrdering([descriptor]), let key = ordering.keys.first {
        add(key.source, [subject])
      } else {
        add(property: descriptor.keyPath)
      }
    }
  }

  private mutating func add(_ source: RowOrdering.Source, _ levels: [ModelDescriptor]) {
    switch source {
    case .column(let path, let reading): add(reading.column, at: path, levels)
    case .identifier(let path): follow(path, levels)
    }
  }

  /// Adds a property of the row itself.
  mutating func add(column: Int) { add(column, of: subject, isOwn: true) }

  /// Adds the properties that a key path reads.
  mutating func add(property keyPath: AnyKeyPath?) {
    if let property = keyPath.flatMap(subject.ownOrInheritedProperty), !property.isRelationship {
      add(property.ordinal, of: subject, isOwn: true)
    } else {
      isUnknown = true
    }
  }

  private mutating func add(_ expression: QueryExpression, levels: [ModelDescriptor]) {
    switch expression {
    case .column(let path, let reading): add(reading.column, at: path, levels)
    case .structured(let path, let reading): add(reading.column, at: path, levels)
    case .identifier(let path), .row(let path), .castRow(let path, _), .isKind(let path, _):
      follow(path, levels)
    case .behind(let position):
      for key in position.ordering.keys { add(key.source, levels) }
    case .list(let list), .count(let list): add(list, levels)
    case .exists(let list, let test):
      add(list, levels)
      addWay(to: list) { $0.add(test, levels: levels + [list.element]) }
      return
    default: break
    }
    for child in expression.children where !expression.hasMembers {
      add(child, levels: levels)
    }
  }

  /// Adds a list: its membership also depends on its members.
  private mutating func add(_ list: QueryExpression.MemberList, _ levels: [ModelDescriptor]) {
    add(list.property.ordinal, at: list.owner, levels)
    add(list.property.inverse?.ordinal, of: list.element, isOwn: false)
    if let condition = list.condition {
      addWay(to: list) { $0.add(condition, levels: levels + [list.element]) }
    }
  }

  /// Adds what is read of the members of a list.
  private mutating func addWay(
    to list: QueryExpression.MemberList,
    _ addTest: (inout FetchReading) -> Void
  ) {
    ways.append(Ways())
    addTest(&self)
    let further = ways.removeLast()
    ways[list.owner.level].lists.append(
      ListWay(owner: list.owner, property: list.property, further: further)
    )
  }

  private mutating func add(_ column: Int, at path: RowPath, _ levels: [ModelDescriptor]) {
    let isOwn = path.level == 0 && path.steps.isEmpty
    follow(path, levels)
    add(column, of: path.descriptor, isOwn: isOwn)
  }

  /// Adds the references that a path follows, and the existence of rows at their ends.
  private mutating func follow(_ path: RowPath, _ levels: [ModelDescriptor]) {
    if !path.steps.isEmpty { ways[path.level].paths.append(path) }
    var descriptor = levels[path.level]
    for (number, step) in path.steps.enumerated() {
      add(step.property.ordinal, of: descriptor, isOwn: path.level == 0 && number == 0)
      guard let destination = step.property.destination else { continue }
      descriptor = .of(destination)
      add(nil, of: descriptor, isOwn: false)
    }
  }

  private mutating func add(_ property: Int?, of descriptor: ModelDescriptor, isOwn: Bool) {
    var reading = Reading(descriptor: descriptor, properties: ColumnSet())
    if let property { reading.properties.insert(property) }
    if isOwn { own.append(reading) } else { others.append(reading) }
  }
}

extension QueryExpression {
  /// Whether the children concern rows of another level.
  fileprivate var hasMembers: Bool {
    switch self {
    case .list, .count, .exists: true
    default: false
    }
  }
}

extension ModelDescriptor {
  /// Whether an object can be of both classes.
  fileprivate func isRelated(to other: ModelDescriptor) -> Bool {
    isKind(of: other) || other.isKind(of: self)
  }
}
