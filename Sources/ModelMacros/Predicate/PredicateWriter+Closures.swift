import SwiftSyntax
import SwiftSyntaxBuilder

extension ClosureExprSyntax {
  /// The names that the closure gives its parameters; none for `$0`.
  var parameterNames: [String] {
    guard let clause = signature?.parameterClause else { return [] }
    if case .simpleInput(let list) = clause { return list.map(\.name.text) }
    guard case .parameterClause(let stated) = clause else { return [] }
    return stated.parameters.map { ($0.secondName ?? $0.firstName).text }
  }

  /// The types that the closure states for its parameters.
  fileprivate var parameterTypes: [String?] {
    guard case .parameterClause(let clause) = signature?.parameterClause else { return [] }
    return clause.parameters.map { $0.type?.trimmedDescription }
  }

  /// One more than the highest number of a `$` that is the closure's own.
  fileprivate var shorthandCount: Int {
    let search = ShorthandSearch(viewMode: .sourceAccurate)
    search.walk(statements)
    return search.count
  }
}

extension PredicateWriter {
  /// A closure whose parameters are variables of the tree, and whose body is a node.
  ///
  /// The parameters always have names, so that a closure may be around what the source says in one.
  mutating func closure(
    _ closure: ClosureExprSyntax,
    parameters types: ParameterTypes = .inferred
  ) throws -> String {
    var names = closure.parameterNames
    if closure.signature?.parameterClause == nil {
      names = (0..<max(1, closure.shorthandCount)).map { "$\($0)" }
    }
    let written = names.map { $0 == "_" ? "_" : uniqueName($0 == "$0" ? "model" : $0.letters) }
    let known = Dictionary(zip(names, written).filter { $0.0 != "_" }) { first, _ in first }
    let body = try scoped(variables: known) { try $0.body(of: closure.statements[...]) }.node
    var parameters = written
    let stated = closure.parameterTypes
    if types == .typed, stated.contains(where: { $0 != nil }) {
      parameters = zip(written, stated).map { name, type in
        type.map { "\(name): \(Self.nodes).Variable<\($0)>" } ?? name
      }
      return "{ (\(parameters.joined(separator: ", "))) in \(body) }"
    }
    return "{ \(parameters.joined(separator: ", ")) in \(body) }"
  }

  /// A closure, or the key path that is given in place of one.
  mutating func function(_ expression: ExprSyntax) throws -> String {
    if let closure = expression.as(ClosureExprSyntax.self) { return try self.closure(closure) }
    guard let keyPath = expression.as(KeyPathExprSyntax.self) else {
      throw refusal(.function(expression.trimmedDescription), at: expression)
    }
    let name = uniqueName("element")
    let value: ExprSyntax = "\(raw: name)\(raw: keyPath.components.trimmedDescription)"
    let body = try scoped(variables: [name: name]) { try $0.term(value) }
    return "{ \(name) in \(body.node) }"
  }

  /// A closure whose parameter is a constant of the tree.
  mutating func constantClosure(
    _ closure: ClosureExprSyntax
  ) throws -> (name: String, body: PredicateTerm) {
    var statements = closure.statements
    let name: String
    if let own = closure.parameterNames.first {
      name = own
    } else {
      // A constant is written as it is, and may be inside a closure of the tree.
      name = uniqueName("value")
      statements = Renaming("$0", to: name).rewrite(statements).cast(CodeBlockItemListSyntax.self)
    }
    return (name, try scoped(constants: ["$0", name]) { try $0.body(of: statements[...]) })
  }
}

extension String {
  /// The name without what a unique name cannot have inside.
  fileprivate var letters: String { filter { $0.isLetter || $0.isNumber || $0 == "_" } }
}

/// Counts the parameters that a closure has without naming them.
private final class ShorthandSearch: SyntaxVisitor {
  var count = 0

  override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
    if case .dollarIdentifier(let name) = node.baseName.tokenKind,
      let number = Int(name.dropFirst())
    {
      count = max(count, number + 1)
    }
    return .skipChildren
  }

  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}

/// Gives a parameter that has no name one.
private final class Renaming: SyntaxRewriter {
  private let old: String
  private let new: String

  init(_ old: String, to new: String) {
    self.old = old
    self.new = new
    super.init(viewMode: .sourceAccurate)
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax {
    guard node.baseName.text == old else { return ExprSyntax(node) }
    return ExprSyntax(node.with(\.baseName.tokenKind, .identifier(new)))
  }

  override func visit(_ node: ClosureExprSyntax) -> ExprSyntax {
    node.parameterNames.isEmpty ? ExprSyntax(node) : super.visit(node)
  }
}
