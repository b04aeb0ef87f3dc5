import SwiftSyntax
import SwiftSyntaxBuilder

extension ModelClass {
  /// Everything `@Model` adds to the body of the class.
  var generatedMembers: [DeclSyntax] {
    var result: [DeclSyntax] = []
    if !inheritsModel { result += core + rootType + [backingData, noType] + isolation }
    result += ordinals
    result.append(hasOnlySlots)
    result += schemaMetadata
    if !inheritsInitializers { result.append(initializer) }
    result += [encode, adopt, reset]
    if let derive { result.append(derive) }
    result += observation
    if let equality { result.append(equality) }
    return result
  }

  // MARK: Storage that the whole hierarchy shares

  private var core: [DeclSyntax] {
    [
      """
      @safe @exclusivity(unchecked) \(raw: mayBeIsolated ? "nonisolated(unsafe) " : "")private \(raw: finalInRoot)var _$core = ModelRuntime._ModelCore()
      """,
      """
      \(raw: nonisolated)\(raw: access.modifier)\(raw: finalInRoot)var _$state: ModelRuntime._ModelState { _$core.state(of: self) }
      """,
      """
      \(raw: nonisolated)\(raw: access.modifier)\(raw: finalInRoot)var _$stateReference: ModelRuntime._StateReference { _$core.stateReference(of: self) }
      """,
      """
      \(raw: nonisolated)\(raw: access.modifier)\(raw: finalInRoot)var _$fetchedRow: ModelRuntime._FetchedRow { _$core.fetchedRow }
      """,
    ]
  }

  /// The name of the class in a hierarchy; a class with the name `Root` has the protocol's default, itself.
  private var rootType: [DeclSyntax] {
    name == "Root" ? [] : ["\(raw: access.modifier)typealias Root = \(raw: name)"]
  }

  private var backingData: DeclSyntax {
    """
    \(raw: nonisolated)\(raw: access.modifier)var persistentBackingData: any ModelRuntime.BackingData<\(raw: name)> {
      get { ModelRuntime._LiveBackingData(self) }
      set { _$state.adopt(newValue) }
    }
    """
  }

  private var isolation: [DeclSyntax] {
    guard isIsolated else { return [] }
    return ["\(raw: access.modifier)typealias _$Isolation = ModelRuntime._ActorIsolated"]
  }

  private var noType: DeclSyntax {
    "typealias _SwiftDataNoType = ModelRuntime._SwiftDataNoType"
  }

  // MARK: Numbers

  /// The constants from which a property's number follows, if it cannot be a literal.
  private var ordinals: [DeclSyntax] {
    var result: [DeclSyntax] = []
    let base = superclass.map { "\($0)._$propertyCount" } ?? "0"
    if declaration.inheritanceClause != nil {
      result.append("\(raw: nonisolated)private static var _$base: Swift.Int { \(raw: base) }")
    }
    let count = members.properties.count
    if members.isConditional {
      let lines = members.skippingStatements { "if place > \($0) { ordinal -= 1 }" }
      result.append(
        """
        \(raw: nonisolated)private static func _$ordinal(_ place: Swift.Int) -> Swift.Int {
          var ordinal = \(raw: base) + place
          \(raw: lines.joined(separator: "\n"))
          return ordinal
        }
        """
      )
    }
    if !isFinal {
      let total = members.isConditional ? "_$ordinal(\(count))" : "\(base) + \(count)"
      result.append(
        """
        \(raw: nonisolated)\(raw: overriding)\(raw: access.overridableModifier)class var _$propertyCount: Swift.Int { \(raw: total) }
        """
      )
    }
    return result
  }

  /// The number of a property in the body of the class.
  private func ordinal(_ place: Int) -> String {
    if members.isConditional { return "Self._$ordinal(\(place))" }
    return declaration.inheritanceClause == nil ? "\(place)" : "\(name)._$base + \(place)"
  }

  // MARK: What the runtime calls

  /// Whether an object may be made by copying the bits of an empty one.
  private var hasOnlySlots: DeclSyntax {
    let others = declaration.memberBlock.members.declarations(of: VariableDeclSyntax.self)
      .filter(\.isStoredInInstances)
      .contains { PersistedProperty($0) == nil }
    let value = others ? "false" : inheritsModel ? "super._$hasOnlySlots" : "true"
    let keyword = isFinal && !inheritsModel ? "static" : "class"
    return """
      \(raw: nonisolated)\(raw: overriding)\(raw: access.overridableModifier)\(raw: keyword) var _$hasOnlySlots: Swift.Bool { \(raw: value) }
      """
  }

  /// Whether the class has all of its superclass's initializers, which one of its own would hide.
  private var inheritsInitializers: Bool {
    let members = declaration.memberBlock.members
    return inheritsModel && !hasInitializer
      && !members.declarations(of: VariableDeclSyntax.self).contains(where: \.isStoredInInstances)
  }

  private var initializer: DeclSyntax {
    let root = inheritsModel ? "Root" : name
    let required = isFinal && !inheritsModel ? "" : "required "
    var lines = members.statements { property, _ in "\(property.slot) = .init()" }
    lines.append(
      inheritsModel ? "super.init(backingData: backingData)" : "_$state.adopt(backingData)"
    )
    // The refused property has a diagnostic; the compiler would repeat it, about generated code.
    if hasRefusedProperty { lines = ["Swift.fatalError()"] }
    return """
      \(raw: nonisolated)\(raw: access.modifier)\(raw: required)init(backingData: any ModelRuntime.BackingData<\(raw: root)>) {
        \(raw: lines.joined(separator: "\n"))
      }
      """
  }

  private var encode: DeclSyntax {
    method(
      "_$encode(into encoder: inout ModelRuntime._RowEncoder)",
      forward: "_$encode(into: &encoder)"
    ) {
      let stored = $0.ephemeralValue.map { value in "._stored(as: \(value))" } ?? ""
      return "\($0.slot)\(stored)._encode\($0.family)(into: &encoder, \(ordinal($1)))"
    }
  }

  private var adopt: DeclSyntax {
    method("_$adopt()", forward: "_$adopt()") { "\($0.slot)._adopt(self, \(ordinal($1)))" }
  }

  private var reset: DeclSyntax {
    method(
      "_$reset(keeping kept: ModelRuntime._KeptProperties)",
      forward: "_$reset(keeping: kept)"
    ) {
      "if !kept.contains(\(ordinal($1))) { \($0.slot) = .init() }"
    }
  }

  /// The method that takes in computed values, if the class or a subclass may have any.
  private var derive: DeclSyntax? {
    let derived = members.properties.contains { $0.property.isDerived }
    guard derived || !inheritsModel && !isFinal else { return nil }
    return method(
      "_$derive(from values: ModelRuntime._DerivedValues)",
      forward: "_$derive(from: values)"
    ) {
      $0.isDerived ? "values.set(&\($0.slot), \(ordinal($1)))" : ""
    }
  }

  /// A method with a statement for each property, after the superclass's.
  private func method(
    _ signature: String,
    forward: String,
    statement: (PersistedProperty, Int) -> String
  ) -> DeclSyntax {
    let lines =
      (inheritsModel ? ["super.\(forward)"] : [])
      + members.statements(statement).filter { !$0.isEmpty }
    return """
      \(raw: nonisolated)\(raw: overriding)\(raw: access.overridableModifier)func \(raw: signature) {
        \(raw: lines.joined(separator: "\n"))
      }
      """
  }

  // MARK: What users may call

  private var observation: [DeclSyntax] {
    var result: [DeclSyntax] = [
      """
      nonisolated func access<_M>(keyPath: Swift.KeyPath<\(raw: name), _M>) {
        if ModelRuntime._mayBeTracking { ModelRuntime._noteAccess(self, keyPath) }
      }
      """,
      """
      nonisolated func withMutation<_M, _R>(keyPath: Swift.KeyPath<\(raw: name), _M>, _ mutation: () throws -> _R) rethrows -> _R {
        try ModelRuntime._withMutation(of: self, keyPath, mutation)
      }
      """,
    ]
    if !inheritsModel {
      result.append(
        """
        nonisolated var _$observationRegistrar: ModelRuntime._Registrar { ModelRuntime._registrar(of: _$state) }
        """
      )
    }
    return result
  }

  // MARK: Modifiers

  var nonisolated: String { mayBeIsolated ? "nonisolated " : "" }
  private var overriding: String { inheritsModel ? "override " : "" }
  private var finalInRoot: String { isFinal ? "" : "final " }
}

extension PersistedProperty {
  /// The suffix of the slot's method names, for values that a type's own overloads do not serve.
  var family: String { isTransformable ? "Transformable" : "" }
}
