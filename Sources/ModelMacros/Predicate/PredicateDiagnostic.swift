import SwiftDiagnostics
import SwiftSyntax

/// A refusal of a part of a predicate, with the text to write instead.
enum PredicateDiagnostic: DiagnosticMessage {
  case noClosure
  case noResult
  case noElse
  case statement
  case condition
  case switchStatement
  case tuple
  case `operator`(String)
  case function(String)
  case replaceable(String, by: String)
  case globalFunction(String)
  case evaluation
  case expression(String)

  var severity: DiagnosticSeverity { .error }

  var diagnosticID: MessageID {
    let name = "\(self)".prefix { $0 != "(" }
    return MessageID(domain: "ModelMacros", id: "Predicate.\(name)")
  }

  var message: String {
    switch self {
    case .noClosure: "#Predicate needs a closure that tests a model: '#Predicate { $0.isDone }'"
    case .noResult: "a predicate says here neither yes nor no"
    case .noElse: "a predicate has a result for every model: add an 'else'"
    case .statement:
      "a predicate is one expression; only 'let', 'if' and 'guard' may come before it"
    case .condition: "a predicate knows no patterns: compare with '==', or bind with 'if let'"
    case .switchStatement: "a predicate has no 'switch': write the cases with '==', '||' and '?:'"
    case .tuple: "a predicate knows no tuples: compare the elements one by one"
    case .operator(let name): "a predicate knows no operator '\(name)'"
    case .function("hasSuffix(_:)"):
      "a predicate cannot call 'hasSuffix(_:)'; use 'contains(_:)' with a text or a pattern"
    case .function("lowercased()"), .function("uppercased()"):
      "a predicate cannot change the case of a text; compare with "
        + "'caseInsensitiveCompare(_:) == .orderedSame', or search with 'localizedStandardContains(_:)'"
    case .function(let signature):
      "a predicate cannot call '\(signature)' on what it tests; store its result in a property, "
        + "or filter what was fetched"
    case .replaceable(let signature, let replacement):
      "a predicate cannot call '\(signature)'; use '\(replacement)'"
    case .globalFunction(let name):
      "a predicate cannot call '\(name)' with what it tests; make a predicate of it, "
        + "and call its 'evaluate(_:)'"
    case .evaluation: "'evaluate(_:)' is for predicates that are known when this one is made"
    case .expression(let text): "a predicate cannot have '\(text)' inside"
    }
  }
}

extension Diagnostic {
  init(_ diagnostic: PredicateDiagnostic, at node: some SyntaxProtocol, fixes: [FixIt] = []) {
    self.init(node: Syntax(node), message: diagnostic, fixIts: fixes)
  }
}
