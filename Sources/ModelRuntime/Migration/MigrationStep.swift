/// One stage of a plan, as it concerns one store.
package struct MigrationStep: Sendable {
  /// What the plan says.
  package let stage: MigrationStage
  /// The entities the store keeps, before and after it.
  package let from: Schema
  package let to: Schema
  /// The names of all entities of the version after it, whichever store keeps them.
  package let namesAfterwards: Set<String>

  /// All entities of the version before it, whichever store keeps them.
  package var wholeFrom: Schema { Schema(versionedSchema: stage.fromVersion) }
  /// All entities of the version after it.
  package var wholeTo: Schema { Schema(versionedSchema: stage.toVersion) }

  /// Whether an app's code runs before or after it.
  package var runsCode: Bool { stage.runsCode }

  /// Whether properties may change in ways that keep no values: the app's code provides them.
  package var isCustom: Bool {
    if case .custom = stage { true } else { false }
  }
}

extension MigrationStep: Hashable, CustomStringConvertible {
  package static func == (lhs: MigrationStep, rhs: MigrationStep) -> Bool {
    lhs.from == rhs.from && lhs.to == rhs.to && lhs.isCustom == rhs.isCustom
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(from.version)
    hasher.combine(to.version)
  }

  package var description: String {
    "the \(isCustom ? "custom" : "lightweight") stage from \(stage.fromVersion) (\(from.version)) "
      + "to \(stage.toVersion) (\(to.version))"
  }
}

// MARK: Running the app's code

extension MigrationStep {
  /// Runs the code that sees the old models.
  ///
  /// - Parameter open: Opens the store with the old models; called only if there is such code.
  /// - Throws: ``SwiftDataError/loadIssueModelContainer``, naming the stage, with what the code threw.
  package func runWillMigrate(_ open: () throws -> ModelContainer) throws {
    guard case .custom(_, _, let body?, _) = stage else { return }
    try run(body, named: "willMigrate", in: open())
  }

  /// Runs the code that sees the new models.
  ///
  /// - Parameter open: Opens the store with the new models; called only if there is such code.
  /// - Throws: ``SwiftDataError/loadIssueModelContainer``, naming the stage, with what the code threw.
  package func runDidMigrate(_ open: () throws -> ModelContainer) throws {
    guard case .custom(_, _, _, let body?) = stage else { return }
    try run(body, named: "didMigrate", in: open())
  }

  private func run(
    _ body: (ModelContext) throws -> Void,
    named name: String,
    in container: ModelContainer
  ) throws {
    let context = ModelContext(container)
    do {
      try body(context)
      // A closure that ends without saving means its changes all the same; no other code could save them.
      if context.hasChanges { try context.save() }
    } catch {
      throw failure("\(name) threw", error)
    }
  }

  /// Says which stage it was that failed, and that nothing came of it.
  package func failure(_ what: String, _ error: any Error) -> SwiftDataError {
    .loadIssueModelContainer.explained(
      "\(self): \(what); the store is as it was before the migration",
      causedBy: error
    )
  }
}
