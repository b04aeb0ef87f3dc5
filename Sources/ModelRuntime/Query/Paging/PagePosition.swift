package import Foundation
package import RowFormat

/// A position between the rows of a sort, given by the sort keys and the identity of one row.
///
/// The row itself need not exist any more.
package struct PagePosition: Sendable {
  /// The tie-breaker between rows with equal sort keys.
  package enum Tie: Sendable {
    /// The row, in a store whose rows with equal keys are in the order of their references.
    case row(RowReference)
    /// The row, in any other store: rows with equal keys are in the order of their identifiers.
    case identifier(PersistentIdentifier)
    /// A model without a row, which comes after all that have one; the unsaved models that are not after it.
    case unsaved(notBehind: Set<ObjectIdentifier>)
  }

  /// The sort; all its keys are attributes.
  package let ordering: RowOrdering
  /// The values of its keys.
  package let values: [QueryValue]
  package let tie: Tie
  /// The order of rows with equal keys.
  package let tieOrder: SortOrder

  init(ordering: RowOrdering, values: [QueryValue], tie: Tie, tieOrder: SortOrder) {
    precondition(
      ordering.keys.count == values.count,
      "\(values.count) values for \(ordering.keys.count) sort keys"
    )
    self.ordering = ordering
    self.values = values
    self.tie = tie
    self.tieOrder = tieOrder
  }

  /// The comparison of each key's values.
  var rules: [SortRule] {
    ordering.keys.map { key in
      guard case .column(_, let reading) = key.source else {
        preconditionFailure("a page is sorted by \(key), which is no attribute")
      }
      return SortRule(kind: reading.kind, order: key.order, textOrder: key.textOrder)
    }
  }

  /// Whether a row with the same sort keys comes after the position.
  func isBehind(_ row: RowReference, _ resolver: any RowResolver) -> Bool {
    let isForward = tieOrder == .forward
    switch tie {
    case .row(let own): return isForward ? row.rawValue > own.rawValue : row.rawValue < own.rawValue
    case .identifier(let own):
      // A store that evaluates rows numbers them.
      let names = (resolver.descriptor(of: row)?.entityName ?? "", own.entityName)
      if names.0 != names.1 { return isForward ? names.0 > names.1 : names.0 < names.1 }
      guard let key = own.rowKey else { return !isForward }
      return isForward ? row.key > key : row.key < key
    case .unsaved: return !isForward
    }
  }

  /// Whether a model with the same sort keys comes after the position.
  func isBehind(_ model: any PersistentModel) -> Bool {
    let isForward = tieOrder == .forward
    let row = model.row
    switch tie {
    case .row(let own):
      guard let row else { return isForward }
      return isForward ? row.rawValue > own.rawValue : row.rawValue < own.rawValue
    case .identifier(let own):
      guard row != nil else { return isForward }
      return isForward ? model.persistentModelID > own : model.persistentModelID < own
    case .unsaved(let notBehind):
      return row == nil ? !notBehind.contains(ObjectIdentifier(model)) : !isForward
    }
  }
}

extension QueryExpression {
  /// The position after which a page's rows begin, if the expression selects a page.
  package var pagePosition: PagePosition? {
    switch self {
    case .behind(let position): position
    case .and(let lhs, let rhs): rhs.pagePosition ?? lhs.pagePosition
    default: nil
    }
  }

  /// The rest of the expression; `nil` if there is nothing else.
  package var withoutPagePosition: QueryExpression? {
    switch self {
    case .behind: return nil
    case .and(let lhs, let rhs):
      guard let lhs = lhs.withoutPagePosition else { return rhs.withoutPagePosition }
      return rhs.withoutPagePosition.map { .and(lhs, $0) } ?? lhs
    default: return self
    }
  }
}

// MARK: Testing rows and models

extension ExpressionCompiler {
  /// The test whether the tested row comes after a position.
  func positionTest(_ position: PagePosition) -> RowTest {
    let readers = position.ordering.makeReaders(for: levels[0], resolver)
    let (rules, values) = (position.rules, position.values)
    return { [resolver] row, reference, scope in
      for place in readers.indices {
        let order = rules[place].compare(try readers[place](row, reference, scope), values[place])
        if order != 0 { return order > 0 }
      }
      return position.isBehind(reference, resolver)
    }
  }
}

extension ObjectExpressionCompiler {
  /// The test whether the tested object comes after a position.
  func positionTest(_ position: PagePosition) -> ObjectTest {
    let readers = position.ordering.keys.map { key -> ObjectReader<QueryValue> in
      guard case .column(let path, let reading) = key.source else {
        preconditionFailure("a page is sorted by \(key), which is no attribute")
      }
      return value(.column(path, reading))
    }
    let (rules, values) = (position.rules, position.values)
    return { scope in
      for place in readers.indices {
        let order = rules[place].compare(try readers[place](scope), values[place])
        if order != 0 { return order > 0 }
      }
      return position.isBehind(scope[0])
    }
  }
}

/// The part of a page's predicate that defines the beginning of the page.
///
/// A store that evaluates predicates on models evaluates it like any other.
struct PositionTest<Model: PersistentModel>: StandardPredicateExpression {
  typealias Output = Bool

  private let position: PagePosition
  private let model: PredicateExpressions.Variable<Model>

  init(_ position: PagePosition, of model: PredicateExpressions.Variable<Model>) {
    self.position = position
    self.model = model
  }

  func evaluate(_ bindings: PredicateBindings) throws -> Bool {
    try ModelTest(.behind(position), of: .of(Model.self)).matches(model.evaluate(bindings))
  }

  func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      self,
      .init(codingPath: encoder.codingPath, debugDescription: Self.isNotCoded)
    )
  }

  init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(codingPath: decoder.codingPath, debugDescription: Self.isNotCoded)
    )
  }

  private static var isNotCoded: String {
    "the predicate of a page cannot be coded: code the descriptor's own and the page's token"
  }
}

extension PositionTest: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    guard case .row(let path) = try translation.value(of: model.key), path.level == 0,
      path.steps.isEmpty
    else { throw .node("\(Self.self)") }
    return .behind(position)
  }
}

extension PositionTest: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let test = ModelTest(.behind(position), of: .of(Model.self))
    let model = model
    return { try test.matches(model.evaluate($0)) }
  }
}
