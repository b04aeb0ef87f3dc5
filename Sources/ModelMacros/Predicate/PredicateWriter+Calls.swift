import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// A function as a predicate calls it: `starts(with:)`.
private struct Signature: Hashable {
  let name: String
  let labels: [String?]

  init(_ call: FunctionCallExprSyntax, name: String) {
    self.name = name
    labels = call.arguments.map { $0.label?.text }
  }

  var text: String { "\(name)(\(labels.map { ($0 ?? "_") + ":" }.joined()))" }
}

extension PredicateWriter {
  mutating func callTerm(_ call: FunctionCallExprSyntax) throws -> PredicateTerm {
    guard let callee = call.calledExpression.as(MemberAccessExprSyntax.self), let base = callee.base
    else {
      throw refusal(.globalFunction(call.calledExpression.trimmedDescription), at: call)
    }
    let signature = Signature(call, name: callee.declName.baseName.text)
    let root = try term(base)
    let closure = call.trailingClosure.map { ExprSyntax($0) } ?? call.closureArgument
    switch (signature.name, signature.labels.count) {
    case (_, _) where call.additionalTrailingClosures.isEmpty == false: break
    case ("contains", _), ("allSatisfy", _), ("filter", _), ("flatMap", _), ("map", _):
      if let closure { return try closureCall(signature.name, root, closure) }
      if signature.name == "contains", signature.labels == [nil] {
        return try containment(root, call.arguments)
      }
    case ("evaluate", 1): return try evaluation(root, of: call)
    case ("starts", 1) where signature.labels == ["with"]:
      let prefix = try firstArgument(call).node
      return .node("\(Self.nodes).build_starts(\(root.node), with: \(prefix))")
    case ("min", 0), ("max", 0):
      return .node("\(Self.nodes).build_\(signature.name)(\(root.node))")
    case ("localizedStandardContains", 1), ("localizedCompare", 1), ("caseInsensitiveCompare", 1):
      let other = try firstArgument(call).node
      return .node("\(Self.nodes).build_\(signature.name)(\(root.node), \(other))")
    default: break
    }
    if let constant = root.constant, !call.arguments.contains(where: { mentionsVariable($0) }),
      closure.map({ !mentionsVariable($0) }) ?? true
    {
      // The rest of the call behind the name of what was cut off before it.
      let rest = call.with(
        \.calledExpression,
        ExprSyntax(callee.with(\.base, "\(raw: constant)"))
      )
      return .constant(rest.trimmedDescription)
    }
    throw unsupported(signature.text, call, callee, base)
  }

  private mutating func firstArgument(_ call: FunctionCallExprSyntax) throws -> PredicateTerm {
    guard let argument = call.arguments.first else { return .null }
    return try term(argument.expression)
  }

  private mutating func closureCall(
    _ name: String,
    _ root: PredicateTerm,
    _ closure: ExprSyntax
  ) throws -> PredicateTerm {
    if name == "flatMap" || name == "map" {
      if let constant = root.constant, let closure = closure.as(ClosureExprSyntax.self) {
        let (name, body) = try constantClosure(closure)
        return .node("\(Self.builder).ifPresent(\(constant)) { \(name) in \(body.node) }")
      }
      return .node("\(Self.builder).\(name)(\(root.node)) \(try function(closure))")
    }
    let label = name == "contains" ? "where: " : ""
    let test = try function(closure)
    return .node("\(Self.nodes).build_\(name)(\(root.node), \(label)\(test))")
  }

  private mutating func containment(
    _ root: PredicateTerm,
    _ arguments: LabeledExprListSyntax
  ) throws -> PredicateTerm {
    guard let argument = arguments.first else { return .null }
    if case .node(let sequence) = root, let constant = failingConstant(argument.expression) {
      return .node("\(Self.builder).contains(\(sequence), failing: \(constant))")
    }
    switch (root, try term(argument.expression)) {
    case (.node(let sequence), .constant(let element)):
      return .node("\(Self.builder).contains(\(sequence), constant: \(element))")
    case (.constant(let sequence), .node(let element)):
      return .node("\(Self.builder).contains(constant: \(sequence), \(element))")
    case (let sequence, let element):
      return .node("\(Self.nodes).build_contains(\(sequence.node), \(element.node))")
    }
  }

  private mutating func evaluation(
    _ root: PredicateTerm,
    of call: FunctionCallExprSyntax
  ) throws -> PredicateTerm {
    guard let predicate = root.constant else { throw refusal(.evaluation, at: call) }
    let input = try firstArgument(call)
    if let constant = input.constant { return .constant("\(predicate).evaluate(\(constant))") }
    return .node("\(Self.builder).evaluate(\(predicate), \(input.node))")
  }

  mutating func subscriptTerm(_ call: SubscriptCallExprSyntax) throws -> PredicateTerm {
    if let constant = failingConstant(ExprSyntax(call)) {
      return .node("\(Self.builder).required(\(constant))")
    }
    let base = try term(call.calledExpression).node
    let labels = call.arguments.map { $0.label?.text }
    let keys = try call.arguments.map { try term($0.expression).node }
    switch labels {
    case [nil]: return .node("\(Self.nodes).build_subscript(\(base), \(keys[0]))")
    case [nil, "default"]:
      return .node("\(Self.nodes).build_subscript(\(base), \(keys[0]), default: \(keys[1]))")
    default: throw refusal(.function("subscript"), at: call)
    }
  }

  // MARK: What has no node

  private func unsupported(
    _ signature: String,
    _ call: FunctionCallExprSyntax,
    _ callee: MemberAccessExprSyntax,
    _ base: ExprSyntax
  ) -> DiagnosticsError {
    let replacement: String? =
      switch signature {
      case "hasPrefix(_:)": "starts(with:)"
      case "localizedCaseInsensitiveContains(_:)": "localizedStandardContains(_:)"
      case "localizedCaseInsensitiveCompare(_:)", "localizedStandardCompare(_:)":
        "localizedCompare(_:)"
      default: nil
      }
    guard let replacement, let argument = call.arguments.first else {
      return refusal(.function(signature), at: callee.declName)
    }
    let name = replacement.prefix { $0 != "(" }
    let label = replacement.contains("with:") ? "with: " : ""
    let new: ExprSyntax =
      "\(base.with(\.trailingTrivia, [])).\(raw: name)(\(raw: label)\(argument.expression.trimmed))"
    return refusal(
      .replaceable(signature, by: replacement),
      at: callee.declName,
      fixes: [
        Remedy.replace(
          call,
          with: new.with(\.trailingTrivia, call.trailingTrivia),
          "use '\(replacement)'"
        )
      ]
    )
  }
}

extension FunctionCallExprSyntax {
  /// The only argument, if it is a function: `where: { … }`, `\.isDone`.
  fileprivate var closureArgument: ExprSyntax? {
    guard arguments.count == 1, let value = arguments.first?.expression,
      value.is(ClosureExprSyntax.self) || value.is(KeyPathExprSyntax.self)
    else { return nil }
    return value
  }
}
