import ModelRuntime

/// A model written by hand, of which only the description is ever read.
///
/// `@Model` refuses most of the mistakes that these tests are about.
protocol DescribedModel: PersistentModel {}

class Described {
  required init() {}
}

extension DescribedModel where Self: Described {
  init(backingData: any BackingData<Self>) { self.init() }
  var persistentBackingData: any BackingData<Self> {
    get { preconditionFailure("a described model has no values") }
    set { preconditionFailure("a described model has no values") }
  }
  var _$state: _ModelState { preconditionFailure("a described model has no values") }
  func _$encode(into encoder: inout _RowEncoder) {}
  func _$adopt() {}
  func _$reset(keeping kept: _KeptProperties) {}
}

extension Schema.PropertyMetadata {
  /// A shorter spelling for properties of which only name and type matter.
  init(_ name: String, _ keypath: AnyKeyPath, _ metadata: (any SchemaProperty)? = nil) {
    self.init(name: name, keypath: keypath, defaultValue: nil, metadata: metadata)
  }
}

extension Schema {
  /// What ``Schema/validate()`` has to say, or `nil` if nothing.
  var complaint: String? {
    do throws(SwiftDataError) {
      try validate()
      return nil
    } catch {
      return error.message
    }
  }
}
