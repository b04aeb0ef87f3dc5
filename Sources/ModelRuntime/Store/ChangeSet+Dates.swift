import Foundation
import RowFormat

extension ChangeSet {
  /// Rounds the changed dates of the models to the precision of a store.
  ///
  /// - Parameter stored: Returns the date that the store keeps for a date; a stored date is returned unchanged.
  func roundDates(by stored: (Date) -> Date) {
    // Most models have the same class as the previous one.
    var last: ModelDescriptor?
    var dates: [ModelProperty] = []
    func findDates(_ descriptor: ModelDescriptor) {
      if descriptor === last { return }
      last = descriptor
      dates = Array(descriptor.dates)
    }
    for model in inserted {
      findDates(model._$state.descriptor)
      for property in dates { property.roundDate(of: model, by: stored) }
    }
    for model in updated {
      let state = model._$state
      findDates(state.descriptor)
      for property in dates where state.changed.contains(property.ordinal) {
        property.roundDate(of: model, by: stored)
      }
    }
  }
}

extension ModelDescriptor {
  /// The attributes whose values are dates.
  fileprivate var dates: some Sequence<ModelProperty> {
    properties.lazy.filter { $0.columnType == .date }
  }
}

extension ModelProperty {
  /// Rounds the date of a model of the class that declares the property, or of a subclass.
  fileprivate func roundDate(of model: any PersistentModel, by stored: (Date) -> Date) {
    func round<Root: PersistentModel>(_: Root.Type) {
      guard let model = model as? Root else { return }
      if let keyPath = keyPath as? ReferenceWritableKeyPath<Root, Date> {
        let date = model[keyPath: keyPath]
        let kept = stored(date)
        if kept != date { model[keyPath: keyPath] = kept }
      } else if let keyPath = keyPath as? ReferenceWritableKeyPath<Root, Date?> {
        guard let date = model[keyPath: keyPath] else { return }
        let kept = stored(date)
        if kept != date { model[keyPath: keyPath] = kept }
      }
    }
    guard let root = type(of: keyPath).rootType as? any PersistentModel.Type else { return }
    round(root)
  }
}
