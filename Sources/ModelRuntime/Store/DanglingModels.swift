import RowFormat

/// Relationships that a save would write and that lead to models which a store of snapshots no longer has.
///
/// Thrown and caught inside one save, on its thread: so the models never leave their context.
struct DanglingModels: Error, @unchecked Sendable {
  struct Link {
    let model: any PersistentModel
    let property: ModelProperty
    let target: RowReference
  }

  let links: [Link]
}
