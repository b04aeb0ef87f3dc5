import SwiftDiagnostics

/// The errors, warnings and notes of the macros.
///
/// If Apple's macros have a text for a case, it is the same text.
enum ModelDiagnostic: DiagnosticMessage {
  case notApplicable(macro: String, kind: String, name: String)
  case missingInitializer(className: String)
  case statedSendable(className: String)
  case transientWithoutDefault(property: String)
  case severalVariables
  case destructured
  case tuple(property: String)
  case function(property: String)
  case unowned(property: String)
  case lazy(property: String)
  case wrapper(property: String, name: String)
  case observers(property: String)
  case constant(property: String)
  case derivedConstant(property: String)
  case derivedWithValue(property: String)
  case derivedWithoutType(property: String)
  case derivedTransient(property: String)
  case derivedRelationship(property: String)

  var severity: DiagnosticSeverity {
    switch self {
    // Such sources compile elsewhere; the compiler judges what crosses threads.
    case .observers, .statedSendable: .warning
    case .constant: .note
    default: .error
    }
  }

  var diagnosticID: MessageID {
    let name = "\(self)".prefix { $0 != "(" }
    return MessageID(domain: "ModelMacros", id: String(name))
  }

  var message: String {
    switch self {
    case .notApplicable(let macro, let kind, let name):
      "'@\(macro)' cannot be applied to \(kind) type '\(name)'"
    case .missingInitializer(let className):
      "@Model requires an initializer be provided for '\(className)'"
    case .statedSendable(let className):
      "'\(className)' should not be Sendable: a model belongs to its context; "
        + "send its persistentModelID, or use a ModelActor"
    case .transientWithoutDefault(let property):
      "@Transient requires non-optional property '\(property)' to have a default value"
    case .severalVariables:
      "@Model requires each persisted property to have a declaration of its own"
    case .destructured:
      "@Model cannot persist properties declared by a tuple pattern"
    case .tuple(let property):
      "@Model cannot persist '\(property)': a tuple is not Codable; use a Codable struct"
    case .function(let property):
      "@Model cannot persist '\(property)': a function cannot be stored; mark it @Transient"
    case .unowned(let property):
      "@Model cannot persist '\(property)': a stored relationship cannot be 'unowned'"
    case .lazy(let property):
      "@Model cannot persist 'lazy' property '\(property)'; mark it @Transient"
    case .wrapper(let property, let name):
      "@Model cannot persist '\(property)' through property wrapper '@\(name)'"
    case .observers(let property):
      "observers of persisted property '\(property)' are never called; "
        + "observe the model with withObservationTracking, or set it through a method"
    case .derivedConstant(let property):
      "a store computes '\(property)' anew, so it cannot be a 'let'; as a 'var' it cannot be set either"
    case .derivedWithValue(let property):
      "@Derived property '\(property)' cannot have an initial value: the store computes it"
    case .derivedWithoutType(let property):
      "@Derived property '\(property)' requires a type annotation"
    case .derivedTransient(let property):
      "'\(property)' cannot be both @Derived and @Transient: a derived value is stored"
    case .derivedRelationship(let property):
      "'\(property)' cannot be both @Derived and @Relationship: what is derived is a value"
    case .constant(let property):
      "a store sets '\(property)' when it fetches the model, so it cannot be a 'let'; "
        + "'private(set) var' keeps others from changing it"
    }
  }
}
