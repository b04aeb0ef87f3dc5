import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The accessors of one persisted property.
///
/// They are the hot path of every model, and short for it: one test for an observer, one call into
/// the slot, which inlines. `set` is there beside `_modify` because an initializer that assigns a
/// property twice needs it.
struct PropertyAccessors {
  let property: PersistedProperty
  /// The class, as its own body names it.
  let className: String
  /// The property's number among those of its class and superclasses, as an expression.
  let ordinal: String

  init?(
    _ node: AttributeSyntax,
    _ declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) {
    guard
      let property = declaration.as(VariableDeclSyntax.self).flatMap(PersistedProperty.init),
      let owner = context.lexicalContext.first?.as(ClassDeclSyntax.self),
      case .argumentList(let arguments) = node.arguments, let place = arguments.first
    else { return nil }
    self.property = property
    className = owner.name.trimmedDescription
    let number = place.expression.trimmedDescription
    // A literal where the class alone decides. Otherwise a constant of the class, which folds away.
    if place.label != nil {
      ordinal = "\(className)._$ordinal(\(number))"
    } else if owner.inheritanceClause != nil {
      ordinal = "\(className)._$base + \(number)"
    } else {
      ordinal = number
    }
  }

  var accessors: [AccessorDeclSyntax] {
    if property.isDerived { return [getter] }
    return property.isConstant ? [initAccessor, getter] : [initAccessor, getter, setter, modifier]
  }

  private var slot: String { property.slot }
  private var family: String { property.family }
  /// Gives a property that is not stored its first value after a fetch.
  private var begin: String {
    property.ephemeralValue.map { "\(slot)._begin(with: \($0))\n" } ?? ""
  }
  private var keyPath: String { "\\\(className).\(property.identifier.text)" }

  private var initAccessor: AccessorDeclSyntax {
    """
    @storageRestrictions(initializes: \(raw: slot))
    init(initialValue) { \(raw: slot) = .init(initialValue) }
    """
  }

  /// Small, so that it inlines: what tracking takes is in a function of its own.
  private var getter: AccessorDeclSyntax {
    """
    @inline(__always) get {
      if ModelRuntime._mayBeTracking {
        @inline(never) func note() { ModelRuntime._noteAccess(self, \(raw: keyPath)) }
        note()
      }
      \(raw: begin)return \(raw: slot)._get\(raw: family)(self, \(raw: ordinal))
    }
    """
  }

  private var setter: AccessorDeclSyntax {
    """
    set {
      let isObserved = _$stateReference.isObserved
      if isObserved { ModelRuntime._willSet(self, \(raw: keyPath)) }
      \(raw: slot)._set\(raw: family)(newValue, self, \(raw: ordinal))
      if isObserved { ModelRuntime._didSet(self, \(raw: keyPath)) }
    }
    """
  }

  /// Lends the slot's value out while it is changed, so that the list of a relationship is changed in place; what is read
  /// meanwhile of an attribute is what it was.
  private var modifier: AccessorDeclSyntax {
    """
    _modify {
      if ModelRuntime._mayBeTracking { ModelRuntime._noteAccess(self, \(raw: keyPath)) }
      let isObserved = _$stateReference.isObserved
      if isObserved { ModelRuntime._willSet(self, \(raw: keyPath)) }
      \(raw: begin)var value = \(raw: slot)._get\(raw: family)(self, \(raw: ordinal))
      let loan = \(raw: slot)._lend(&value, self, \(raw: ordinal))
      defer {
        \(raw: slot)._takeBack(loan)
        \(raw: slot)._set\(raw: family)(value, self, \(raw: ordinal))
        if isObserved { ModelRuntime._didSet(self, \(raw: keyPath)) }
      }
      yield &value
    }
    """
  }
}
