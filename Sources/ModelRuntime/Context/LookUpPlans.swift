import Foundation

/// Cached plans for the most frequent fetches: those for the models that have a value in an attribute.
///
/// Translating a predicate costs several times the look-up itself. All predicates of one type that name the same
/// property differ in nothing but the value: from the second one on, only the value is read.
struct LookUpPlans {
  /// The last used plan.
  private var last: LookUpPlan?
  private var plans: [ObjectIdentifier: Plans] = [:]
  /// The type of the last predicate without a plan.
  private var lastUnknown: ObjectIdentifier?

  private enum Plans {
    /// Predicates of the type have to be translated.
    case none
    case some([LookUpPlan])
  }

  /// Maximum number of properties remembered per type: a program may make key paths without end.
  private static let greatestCount = 16

  /// Returns the plan of a predicate, and the value it compares with.
  ///
  /// - Parameters:
  ///   - expression: The predicate.
  ///   - variable: Its variable.
  ///   - learn: Makes a plan, or returns `nil` if none is possible.
  /// - Returns: `nil` if the predicate has to be translated.
  mutating func plan(
    for expression: any StandardPredicateExpression<Bool>,
    _ variable: PredicateExpressions.VariableID,
    learn: (PropertyEqualityParts, any PropertyEquality.Type) -> LookUpPlan?
  ) -> (plan: LookUpPlan, lookUp: AttributeLookUp, value: QueryValue)? {
    let type = ObjectIdentifier(Swift.type(of: expression))
    if let last, last.expressionType == type {
      guard let parts = parts(of: expression, as: last.nodeType), parts.variable == variable else {
        return nil
      }
      if last.keyPath === parts.keyPath { return last.lookUp.map { (last, $0, parts.value) } }
    }
    return search(type, expression, variable, learn)
  }

  @inline(never)
  private mutating func search(
    _ type: ObjectIdentifier,
    _ expression: any StandardPredicateExpression<Bool>,
    _ variable: PredicateExpressions.VariableID,
    _ learn: (PropertyEqualityParts, any PropertyEquality.Type) -> LookUpPlan?
  ) -> (plan: LookUpPlan, lookUp: AttributeLookUp, value: QueryValue)? {
    var known: [LookUpPlan] = []
    switch plans[type] {
    case .none?: return nil
    case .some(let list)?: known = list
    case nil:
      // A predicate that is used once is not worth a plan.
      if lastUnknown != type {
        lastUnknown = type
        return nil
      }
    }
    guard
      let node = known.first?.nodeType ?? Swift.type(of: expression) as? any PropertyEquality.Type
    else {
      plans[type] = Plans.none
      return nil
    }
    guard let parts = parts(of: expression, as: node), parts.variable == variable else {
      return nil
    }
    if let plan = known.first(where: { $0.keyPath === parts.keyPath }) {
      last = plan
      return plan.lookUp.map { (plan, $0, parts.value) }
    }
    if known.count == Self.greatestCount { return nil }
    guard let plan = learn(parts, node) else { return nil }
    plans[type] = .some(known + [plan])
    last = plan
    return plan.lookUp.map { (plan, $0, parts.value) }
  }

  private func parts(
    of expression: any StandardPredicateExpression<Bool>,
    as node: any PropertyEquality.Type
  ) -> PropertyEqualityParts? {
    func parts<Node: PropertyEquality>(
      _: Node.Type,
      _ expression: some StandardPredicateExpression<Bool>
    ) -> PropertyEqualityParts? {
      unsafe withUnsafePointer(to: expression) {
        // It has exactly this type, by which the plans are found.
        unsafe UnsafeRawPointer($0).assumingMemoryBound(to: Node.self).pointee.parts
      }
    }
    return parts(node, expression)
  }
}

/// The answer to all predicates of one type that name one property.
final class LookUpPlan {
  let expressionType: ObjectIdentifier
  let nodeType: any PropertyEquality.Type
  /// Held, so that no other key path can take its address.
  let keyPath: AnyKeyPath
  let connection: StoreConnection
  /// `nil` if the predicates have to be translated.
  let lookUp: AttributeLookUp?
  /// The properties of unsaved models that the predicates read.
  let reading: FetchReading

  init(
    _ expressionType: ObjectIdentifier,
    _ nodeType: any PropertyEquality.Type,
    _ keyPath: AnyKeyPath,
    _ connection: StoreConnection,
    _ lookUp: AttributeLookUp?,
    _ reading: FetchReading
  ) {
    self.expressionType = expressionType
    self.nodeType = nodeType
    self.keyPath = keyPath
    self.connection = connection
    self.lookUp = lookUp
    self.reading = reading
  }
}
