import LogEngine
import ModelRuntime
import RowFormat

extension TableStore: ExpiringStore {
  func rows(of model: ModelDescriptor, thatMeet test: QueryExpression) throws -> [RowReference] {
    func rows<Model: PersistentModel>(of _: Model.Type) throws -> [RowReference] {
      var fetch = FetchDescriptor<Model>()
      fetch.translation = test
      return try references(of: fetch)
    }
    return try rows(of: model.type)
  }

  func report(_ report: ExpirationReport) { engine.report(.rowsExpired(report)) }
}
