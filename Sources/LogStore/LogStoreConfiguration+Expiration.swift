public import Foundation
public import ModelRuntime

extension LogStoreConfiguration {
  /// A rule by which models of a class are deleted once a date of theirs lies far enough back.
  ///
  ///     let configuration = LogStoreConfiguration(
  ///       url: folder,
  ///       expirations: [
  ///         .init(Reading.self, after: .seconds(30 * 86_400), since: \.takenAt),
  ///         .init(Session.self, after: .zero, since: \.expiresAt),
  ///       ])
  ///
  /// A model has expired when its date plus the duration lies in the past by the system's clock. It is never deleted
  /// before. It is deleted when the store looks next, at the latest ``LogStoreConfiguration/expirationInterval`` after that,
  /// and after the models that are deleted before it; until then fetches find it like any other. A model without a date never
  /// expires.
  ///
  /// An expiration does all that the delete of a context does: it follows delete rules, frees indexes, unique values and
  /// files of external storage, and informs contexts and observers. The history has it as transactions of the author
  /// ``LogStore/expirationAuthor``, with tombstones. If a rule denies the delete, the model stays, and is tried again each
  /// time. A model whose date is changed before its delete is committed stays, too.
  ///
  /// An `#Index` that begins with the date leads to what has expired; without one, the column of dates is read.
  public struct Expiration: Sendable {
    /// The class.
    let model: ModelDescriptor
    /// The attribute; `nil` if the key path names none that is stored.
    let property: ModelProperty?
    /// The time from a model's date to its expiration.
    let duration: Duration

    /// Deletes the models of a class when a date of theirs is older than a duration.
    ///
    /// - Parameters:
    ///   - model: The class. Models of its subclasses expire, too, if not earlier by a rule of their own.
    ///   - duration: The time from a model's date to its expiration: `.zero` if the date is the expiration. A day counts
    ///     86,400 seconds.
    ///   - date: A stored attribute of the model itself.
    public init<Model: PersistentModel>(
      _ model: Model.Type,
      after duration: Duration,
      since date: KeyPath<Model, Date>
    ) {
      self.init(model, duration, date)
    }

    /// Deletes the models of a class when a date of theirs is older than a duration; those without a date stay.
    ///
    /// - Parameters:
    ///   - model: The class. Models of its subclasses expire, too, if not earlier by a rule of their own.
    ///   - duration: The time from a model's date to its expiration: `.zero` if the date is the expiration. A day counts
    ///     86,400 seconds.
    ///   - date: A stored attribute of the model itself.
    public init<Model: PersistentModel>(
      _ model: Model.Type,
      after duration: Duration,
      since date: KeyPath<Model, Date?>
    ) {
      self.init(model, duration, date)
    }

    private init(_ model: any PersistentModel.Type, _ duration: Duration, _ keyPath: AnyKeyPath) {
      self.model = .of(model)
      self.duration = duration
      property = self.model.ownOrInheritedProperty(for: keyPath)
    }
  }
}

// MARK: Making sure of the rules

extension LogStoreConfiguration {
  /// The rules, made ready for the store.
  ///
  /// - Throws: ``LogStoreError/expiration(entity:property:reason:)`` for one that cannot be followed.
  func expirationRules() throws -> [ExpirationRule] {
    let classes = schema?.descriptors ?? []
    var rules: [ExpirationRule] = []
    for expiration in expirations {
      let rule = try expiration.rule(among: classes)
      if let other = rules.first(where: { $0.model === rule.model }) {
        throw expiration.failure(
          "expected one rule for each class, found another, by \(other.property.name): give one of the two up, or let a "
            + "date of the model say when it expires"
        )
      }
      rules.append(rule)
    }
    return rules
  }
}

extension LogStoreConfiguration.Expiration {
  fileprivate func rule(among classes: [ModelDescriptor]) throws -> ExpirationRule {
    guard classes.contains(where: { $0.isKind(of: model) }) else {
      let names = classes.map(\.entityName).sorted().joined(separator: ", ")
      throw failure(
        "expected a class of the store's schema (\(names)), found \(model.entityName): add it to the models of the "
          + "container, or remove the rule"
      )
    }
    guard duration >= .zero else {
      throw failure("expected a duration of zero or more, found \(duration)")
    }
    guard let property else {
      throw failure(
        "expected a stored attribute of type Date or Date?, found a property that is computed, transient, or of a related "
          + "model: name an attribute of \(model.entityName) itself"
      )
    }
    guard let rule = ExpirationRule(model, property, duration) else {
      throw failure(
        "expected an attribute that is stored as a date, found one that is kept in another form: give it no transformer"
      )
    }
    return rule
  }

  fileprivate func failure(_ reason: String) -> LogStoreError {
    .expiration(entity: model.entityName, property: property?.name, reason: reason)
  }
}
