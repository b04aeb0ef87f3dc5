import SwiftSyntax

// A predicate is one expression. Statements that amount to one are written as it: constants and parts that have a
// name, conditions that return early.

// MARK: Statements

extension PredicateWriter {
  /// Returns the term of the statements of a closure, or of a branch.
  mutating func body(of statements: Slice<CodeBlockItemListSyntax>) throws -> PredicateTerm {
    guard let first = statements.first else { throw refusal(.noResult, at: statements.base) }
    let rest = statements.dropFirst()
    switch first.item {
    case .decl(let declaration):
      guard let variable = declaration.as(VariableDeclSyntax.self) else {
        throw refusal(.statement, at: first)
      }
      return try naming(variable, rest)
    case .stmt(let statement):
      if let exit = statement.as(ReturnStmtSyntax.self), let value = exit.expression, rest.isEmpty {
        return try term(value)
      }
      if let check = statement.as(GuardStmtSyntax.self) {
        return try conditional(check.conditions[...]) { writer in
          try writer.body(of: rest)
        } otherwise: { writer in
          try writer.body(of: check.body.statements[...])
        }
      }
      if let value = statement.as(ExpressionStmtSyntax.self)?.expression {
        return try last(value, rest)
      }
      throw refusal(.statement, at: first)
    case .expr(let expression): return try last(expression, rest)
    default: throw refusal(.statement, at: first)
    }
  }

  private mutating func last(
    _ expression: ExprSyntax,
    _ rest: Slice<CodeBlockItemListSyntax>
  ) throws -> PredicateTerm {
    if let condition = expression.as(IfExprSyntax.self) {
      return try ifTerm(condition, rest: rest)
    }
    guard let next = rest.first else { return try term(expression) }
    throw refusal(.statement, at: next)
  }

  /// `if`, as an expression or with the statements after it if it does not return.
  mutating func ifTerm(
    _ condition: IfExprSyntax,
    rest: Slice<CodeBlockItemListSyntax>?
  ) throws -> PredicateTerm {
    try conditional(condition.conditions[...]) { writer in
      try writer.body(of: condition.body.statements[...])
    } otherwise: { writer in
      if case .codeBlock(let block) = condition.elseBody {
        return try writer.body(of: block.statements[...])
      }
      if case .ifExpr(let other) = condition.elseBody {
        return try writer.ifTerm(other, rest: rest)
      }
      guard let rest, !rest.isEmpty else { throw writer.refusal(.noElse, at: condition) }
      return try writer.body(of: rest)
    }
  }

  private mutating func conditional(
    _ conditions: Slice<ConditionElementListSyntax>,
    then: (inout Self) throws -> PredicateTerm,
    otherwise: (inout Self) throws -> PredicateTerm
  ) throws -> PredicateTerm {
    guard let first = conditions.first else { return try then(&self) }
    let rest = conditions.dropFirst()
    switch first.condition {
    case .expression(let test):
      let test = namedCondition(try term(test))
      let passed = try conditional(rest, then: then, otherwise: otherwise)
      return .conditional(test, passed, try otherwise(&self))
    case .optionalBinding(let binding):
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else {
        throw refusal(.condition, at: first)
      }
      let value =
        binding.initializer?.value
        ?? ExprSyntax(DeclReferenceExprSyntax(baseName: .identifier(name)))
      let present: String
      switch try term(value) {
      case .node(let optional):
        let written = uniqueName(name)
        let passed = try scoped(variables: [name: written]) {
          try $0.conditional(rest, then: then, otherwise: otherwise)
        }
        present = "\(Self.builder).flatMap(\(optional)) { \(written) in \(passed.node) }"
      case let constant:
        let passed = try scoped(constants: [name]) {
          try $0.conditional(rest, then: then, otherwise: otherwise)
        }
        let optional = constant.constant ?? "nil"
        present = "\(Self.builder).ifPresent(\(optional)) { \(name) in \(passed.node) }"
      }
      let absent = try otherwise(&self)
      return .node("\(Self.nodes).build_NilCoalesce(lhs: \(present), rhs: \(absent.node))")
    default: throw refusal(.condition, at: first)
    }
  }

  /// `let name = …`, and what follows it.
  private mutating func naming(
    _ variable: VariableDeclSyntax,
    _ rest: Slice<CodeBlockItemListSyntax>
  ) throws -> PredicateTerm {
    guard variable.bindingSpecifier.text == "let", let binding = variable.bindings.first,
      variable.bindings.count == 1, let value = binding.initializer?.value,
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
    else { throw refusal(.statement, at: variable) }
    switch try term(value) {
    case .node(let node):
      let written = uniqueName(name)
      let body = try scoped(variables: [name: written]) { try $0.body(of: rest) }
      return .node("\(Self.builder).naming(\(node)) { \(written) in \(body.node) }")
    case let constant:
      let type = binding.typeAnnotation.map { " as \($0.type.trimmedDescription)" } ?? ""
      let text = (constant.constant ?? "nil") + type
      let body = try scoped(constants: [name]) { try $0.body(of: rest) }
      return .node("\(Self.builder).naming(\(text)) { \(name) in \(body.node) }")
    }
  }
}
