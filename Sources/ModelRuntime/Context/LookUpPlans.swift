import Foundation

/// What a context has learned of the fetches that it is asked again and again: those for the models that have a value in
/// an attribute.
///
/// Translating a predicate costs several times what the look-up does. All predicates of one type that name the same
/// property differ in nothing but the value: from the second one on, that is all that is read of them.
struct LookUpPlans {
  /// The plan that was used last.
  private var last: LookUpPlan?
  private var plans: [ObjectIdentifier: Plans] = [:]
  /// The type of the predicate before the last that was not known.
  private var lastUnknown: ObjectIdentifier?

  private enum Plans {
    /// Predicates of the type have to be translated.
    case none
    case some([LookUpPlan])
  }

  /// How many properties are remembered of one type: a program may make key paths without end.
  private static let greatestCount = 16

  /// The plan of a predicate, and the value that it asks for.
  ///
  /// - Parameters:
  ///   - expression: The predicate.
  ///   - variable: Its variable.
  ///   - learn: Makes a plan, if there can be one.
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
      // What is asked once is not worth a plan.
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
        // It is of this very type: that is how the plans are found.
        unsafe UnsafeRawPointer($0).assumingMemoryBound(to: Node.self).pointee.parts
      }
    }
    return parts(node, expression)
  }
}

/// How predicates of one type that name one property are answered.
final class LookUpPlan {
  let expressionType: ObjectIdentifier
  let nodeType: any PropertyEquality.Type
  /// Held, so that no other one comes where it is.
  let keyPath: AnyKeyPath
  let connection: StoreConnection
  /// `nil` if the predicates have to be translated.
  let lookUp: AttributeLookUp?
  /// What the predicates read of unsaved models.
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
