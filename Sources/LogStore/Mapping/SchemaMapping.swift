import LogEngine
import ModelRuntime
import RowFormat

/// Brings the tables of a store in line with a schema.
///
/// Everything here is an entry in the catalogue: adding, renaming, moving or dropping a property writes a
/// few dozen bytes, however many rows there are. What the rows must be asked for is noted in ``checks``.
struct SchemaMapping {
  /// On whose word the tables change.
  enum Manner {
    /// No step says what there was before: what the schema lacks stays, in case it comes back.
    case inferred(SchemaAge)
    /// A step of a plan says what there was before: what is gone is gone.
    case planned(MigrationStep)
  }

  private(set) var draft: CatalogueDraft
  private(set) var checks = ValueChecks()
  private let manner: Manner
  /// The entities whose rows a step removes.
  private let removedEntities: Set<String>
  /// The entities of the schema that the store is brought to.
  private var families = EntityFamilies(Schema())
  /// The columns in which rows have other values than before, or values where they had none.
  private var changedColumns: Set<ChangedColumn> = []

  /// The columns of relationships that rows were written without, or with nobody to keep them in agreement with their other
  /// ends, and that are there again.
  private var returnedColumns: Set<ChangedColumn> = []
  /// The entities that the models lacked which wrote the store last, as far as it says.
  private let absentEntities: Set<String>
  /// The versions that those are at, as far as the store says.
  private let lastListings: [String: StoredSchemaVersion]
  /// The version of the schema that the store is brought to.
  private var version = Schema.unversioned
  /// Whether the store says which original names the models had that wrote it last.
  private let areNamesValid: Bool

  private struct ChangedColumn: Hashable {
    let entity: String
    let name: String
  }

  init(_ draft: CatalogueDraft, _ manner: Manner) {
    self.draft = draft
    self.manner = manner
    absentEntities = EntityRecord.absentEntities(in: draft.catalogue)
    lastListings = LastListing.versions(in: draft.catalogue)
    areNamesValid = NameRecord.areValid(in: draft.catalogue)
    removedEntities =
      if case .planned(let step) = manner {
        Set(step.from.entities.map(\.name)).subtracting(step.namesAfterwards)
      } else {
        []
      }
  }

  private var catalogue: Catalogue { draft.catalogue }

  /// Makes the changes.
  ///
  /// - Throws: ``LogStoreError/propertyTypeChanged(entity:property:stored:declared:)`` for a property whose older
  ///   values cannot be read as its new type, if no code of the app provides new ones.
  mutating func bring(to schema: Schema) throws {
    families = EntityFamilies(schema)
    version = schema.version
    try removeTables()
    for descriptor in schema.descriptors { try bring(to: descriptor) }
    for descriptor in schema.descriptors {
      try recordInverses(of: descriptor)
      try recordReturns(of: descriptor)
    }
    if case .planned(let step) = manner { recordConstraints(of: step) }
  }

  private mutating func bring(to descriptor: ModelDescriptor) throws {
    let name = descriptor.entityName
    if catalogue.table(named: name) == nil { try draft.make(.addTable(name: name)) }
    try renameColumns(of: descriptor)
    try removeColumns(of: descriptor)
    let hadRows = table(of: descriptor).currentLayout != .none
    for column in 0..<descriptor.layout.count {
      try bring(column, of: descriptor, hadRows: hadRows)
    }
    try recordOriginalNames(of: descriptor)
    let complete = table(of: descriptor)
    let order = (0..<descriptor.layout.count).compactMap {
      complete.column(named: descriptor.columnName($0))?.number
    }
    if hadRows {
      // For rows that keep their values in other columns: see ``HiddenColumns``.
      for columns in HiddenColumns.layouts(of: complete, beside: order) {
        try draft.make(.setLayout(table: complete.number, columns: columns))
      }
    }
    if table(of: descriptor).layout(table(of: descriptor).currentLayout)?.columns != order {
      try draft.make(.setLayout(table: complete.number, columns: order))
    }
  }

  /// Whether code of the app provides the values of properties whose older ones cannot be read.
  private var isCustom: Bool {
    if case .planned(let step) = manner { step.isCustom } else { false }
  }

  private func table(of descriptor: ModelDescriptor) -> TableDefinition {
    guard let table = catalogue.table(named: descriptor.entityName) else {
      preconditionFailure("the table of \(descriptor.entityName) was added and is not there")
    }
    return table
  }

  /// What is known of the age of a class, compared with the models that wrote its table last.
  ///
  /// These need not be those that wrote the store last. `nil` if a step of a plan says what there was before.
  private func age(of entity: String) -> SchemaAge? {
    guard case .inferred(let age) = manner else { return nil }
    guard absentEntities.contains(entity) else { return age }
    if let last = lastListings[entity]?.version, last != version {
      return last < version ? .newer : .older
    }
    return age == .same && lastListings[entity] == nil ? .unknown : age
  }

  /// The class as it was before the step, if a plan says so.
  private func former(_ descriptor: ModelDescriptor) -> ModelDescriptor? {
    guard case .planned(let step) = manner else { return nil }
    return step.from.descriptor(named: descriptor.entityName)
  }
}

// MARK: What goes

extension SchemaMapping {
  /// Removes the entities that a step drops, with their rows.
  private mutating func removeTables() throws {
    for name in removedEntities.sorted() {
      guard let table = catalogue.table(named: name) else { continue }
      try draft.make(.removeTable(table.number))
    }
  }

  /// Lets go of the properties that a step drops: should the name come back, it comes without the old values.
  private mutating func removeColumns(of descriptor: ModelDescriptor) throws {
    guard case .planned = manner else { return }
    let table = table(of: descriptor)
    let names = Set((0..<descriptor.layout.count).map(descriptor.columnName))
    let former = former(descriptor)?.columnNames ?? []
    for column in table.columns where !column.isRetired && !names.contains(column.name) {
      // A column that the version before lacked, too, is a later version's, and stays in case that comes back.
      if former.contains(column.name) { try drop(column, of: table) }
    }
  }

  private mutating func drop(_ column: ColumnDefinition, of table: TableDefinition) throws {
    // Under its own name, a retired column is what a column of today had its values in before.
    for former in table.columns where former.name == column.name {
      let name = "\(column.name) (removed \(former.number))"
      try rename(former.number, to: name, in: table.number)
    }
    try draft.make(.retireColumn(table: table.number, column: column.number))
  }
}

// MARK: What is called something else

extension SchemaMapping {
  private struct Renaming {
    let old: String
    let new: String
  }

  /// Gives the columns of renamed properties their new names, all at once: two may have exchanged theirs.
  private mutating func renameColumns(of descriptor: ModelDescriptor) throws {
    try checkExchanges(in: descriptor)
    let renamings = renamings(of: descriptor)
    let number = table(of: descriptor).number
    let before = table(of: descriptor)
    var columns: [(column: UInt16, name: String)] = []
    for renaming in renamings {
      guard let table = catalogue.table(number), let live = before.column(named: renaming.old)
      else {
        continue
      }
      // With those that held its values before.
      changedColumns.insert(ChangedColumn(entity: descriptor.entityName, name: renaming.new))
      for column in before.columns where column.name == renaming.old {
        columns.append((column.number, renaming.new))
        if column.number == live.number, renamings.contains(where: { $0.new == column.name }) {
          let name = "\(column.name) (renamed)"
          try draft.make(.renameColumn(table: table.number, column: column.number, to: name))
        }
      }
      try recordName(of: live, before, becoming: renaming.new)
    }
    for (column, name) in columns {
      if let taken = catalogue.table(number)?.column(named: name), taken.number != column,
        catalogue.table(number)?.column(column)?.isRetired == false,
        let table = catalogue.table(number)
      {
        try giveUp(taken, of: table, former(descriptor))
      }
    }
    for retired in [true, false] {
      for (column, name) in columns
      where catalogue.table(number)?.column(column)?.isRetired == retired {
        try rename(column, to: name, in: number)
      }
    }
  }

  /// Notes the name that a column had, and whether another one has the name that it gets.
  private mutating func recordName(
    of column: ColumnDefinition,
    _ table: TableDefinition,
    becoming name: String
  ) throws {
    var record = NameRecord(of: column.number, in: table.number, catalogue)
    record.formerNames.removeAll { $0 == name || $0 == column.name }
    record.formerNames.append(column.name)
    let isTaken = table.column(named: name).map { !table.isHidden($0.number) } ?? false
    record.original = NameRecord.Original(
      name: column.name,
      state: isTaken ? .exchanged : .original
    )
    try draft.make(record.change(of: column.number, in: table.number))
  }

  /// Makes way for a column that gets another's name.
  ///
  /// If the version before had a property of the name, the step drops its values. If it had none, they are
  /// from a later version, from which the store was taken back: rows that have no value of the renamed column continue
  /// to show them.
  private mutating func giveUp(
    _ taken: ColumnDefinition,
    of table: TableDefinition,
    _ former: ModelDescriptor?
  ) throws {
    if let former, !former.columnNames.contains(taken.name) {
      try draft.make(.retireColumn(table: table.number, column: taken.number))
    } else {
      try drop(taken, of: table)
    }
  }

  private mutating func rename(_ column: UInt16, to name: String, in table: UInt16) throws {
    try draft.make(.renameColumn(table: table, column: column, to: name))
  }

  /// The columns that have other names now, hidden ones included.
  private func renamings(of descriptor: ModelDescriptor) -> [Renaming] {
    let table = table(of: descriptor)
    let former = former(descriptor)
    var renamings: [Renaming] = []
    for property in descriptor.properties {
      guard let old = property.originalName, table.column(named: old) != nil,
        isNew(property, in: table, former)
      else { continue }
      renamings.append(Renaming(old: old, new: property.name))
      let rank = RankColumn.name(for: old)
      if descriptor.rankColumns[property.ordinal] != nil, table.column(named: rank) != nil {
        renamings.append(Renaming(old: rank, new: RankColumn.name(for: property.name)))
      }
    }
    return renamings.isEmpty ? renamingsBack(of: descriptor) : renamings
  }

  /// Whether a property got its name only now: its original name stays with it in later versions.
  private func isNew(
    _ property: ModelProperty,
    in table: TableDefinition,
    _ former: ModelDescriptor?
  ) -> Bool {
    if let age = age(of: table.name) {
      guard let column = table.column(named: property.name) else { return true }
      return isNew(property, named: column, in: table, age)
    }
    guard let same = former?.property(named: property.name) else { return true }
    return same.originalName != property.originalName
      && former?.property(named: property.originalName ?? "") != nil
  }

  /// Whether a property takes over another column, though there is one of its name: the models that wrote the store last had
  /// both, and the property did not have this original name.
  private func isNew(
    _ property: ModelProperty,
    named column: ColumnDefinition,
    in table: TableDefinition,
    _ age: SchemaAge
  ) -> Bool {
    guard age == .newer || age == .unknown, areNamesValid, let old = property.originalName,
      old != property.name, let source = table.column(named: old), !table.isHidden(source.number),
      !table.isHidden(column.number)
    else { return false }
    guard let original = NameRecord(of: column.number, in: table.number, catalogue).original,
      original.name == old
    else { return true }
    return original.state == .settled && age == .newer
  }

  /// Makes sure that properties whose names were exchanged still say so.
  ///
  /// Models that do not are older ones, or such as need the original names no more: the former would find their values under
  /// the wrong names. Only the number of a higher version tells.
  ///
  /// - Throws: ``SwiftDataError/migrationUnavailable`` if it cannot be decided.
  private func checkExchanges(in descriptor: ModelDescriptor) throws {
    guard let age = age(of: descriptor.entityName), age == .older || age == .unknown, areNamesValid
    else { return }
    let table = table(of: descriptor)
    for property in descriptor.properties {
      guard let column = table.column(named: property.name),
        let original = NameRecord(of: column.number, in: table.number, catalogue).original,
        original.state == .exchanged, property.originalName != original.name
      else { continue }
      throw SwiftDataError.migrationUnavailable.explained(
        "\(descriptor.entityName).\(property.name) of the store was \(original.name) before, when another property was "
          + "\(property.name). The models do not say so, and may be from before: if so, open the store with newer ones, or "
          + "with a plan whose stages lead back; if not, keep originalName: \"\(original.name)\", or give the models the "
          + "number of a higher version",
        entity: descriptor.entityName,
        property: property.name
      )
    }
  }

  /// The columns that older models find under the names that these had.
  ///
  /// Models are taken for older ones if they have a lower version, or no number that tells, and rows of the table were once
  /// written with just these properties: models that are newer and use a former name for something else have others, too.
  private func renamingsBack(of descriptor: ModelDescriptor) -> [Renaming] {
    guard let age = age(of: descriptor.entityName), age == .older || age == .unknown else {
      return []
    }
    let table = table(of: descriptor)
    let names = (0..<descriptor.layout.count).map(descriptor.columnName)
    let missing = names.filter { table.column(named: $0) == nil }
    if missing.isEmpty { return [] }
    var renamings: [Renaming] = []
    for name in missing {
      let candidates = table.columns.filter { column in
        !column.isRetired && !names.contains(column.name)
          && NameRecord(of: column.number, in: table.number, catalogue).formerNames.contains(name)
      }
      guard candidates.count == 1 else { continue }
      renamings.append(Renaming(old: candidates[0].name, new: name))
    }
    guard Set(renamings.map(\.old)).count == renamings.count else { return [] }
    if age == .older { return renamings }
    let sources = Set(names).subtracting(missing).union(renamings.map(\.old))
    let hadThese = table.layouts.contains { layout in
      Set(layout.columns.compactMap { table.column($0)?.name }) == sources
    }
    return renamings.count == missing.count && hadThese ? renamings : []
  }

  /// Notes which original names the properties of a class have.
  private mutating func recordOriginalNames(of descriptor: ModelDescriptor) throws {
    let table = table(of: descriptor)
    for property in descriptor.properties {
      guard let column = table.column(named: property.name) else { continue }
      var record = NameRecord(of: column.number, in: table.number, catalogue)
      let former = record.original
      if let name = property.originalName, name != property.name {
        let isKnown = former?.name == name && (former?.state != .settled || !isNewer(table))
        if !isKnown { record.original = NameRecord.Original(name: name, state: .original) }
      } else if former?.state == .exchanged, isNewer(table) {
        record.original?.state = .settled
      }
      if record.original != former {
        try draft.make(record.change(of: column.number, in: table.number))
      }
    }
  }

  /// Whether the schema is of a later time than the one that wrote a table last.
  private func isNewer(_ table: TableDefinition) -> Bool {
    age(of: table.name).map { $0 == .newer } ?? true
  }
}

// MARK: What comes, and what is of another kind

extension SchemaMapping {
  private mutating func bring(
    _ column: Int,
    of descriptor: ModelDescriptor,
    hadRows: Bool
  ) throws {
    let table = table(of: descriptor)
    let name = descriptor.columnName(column)
    let type = descriptor.layout.types[column]
    let property = column < descriptor.properties.count ? descriptor.properties[column] : nil
    guard let found = table.column(named: name) else {
      return try add(column, of: descriptor, hadRows: hadRows)
    }
    let key = CatalogueMapping.ephemeralKey(table: table.number, column: found.number)
    let isMarked = catalogue.metadata[key] != nil
    if property?.isEphemeral == true, !isMarked || found.type != type {
      // Rows have values from when these were stored: another column shows them the initial one.
      try drop(found, of: table)
      return try add(column, of: descriptor, hadRows: hadRows)
    }
    if property?.isEphemeral != true, isMarked {
      try draft.make(.setMetadata(key: key, value: []))
    }
    if let property, let change = change(of: found, to: property, in: table) {
      guard isCustom else {
        throw typeChange(descriptor, name, stored: change.stored, declared: change.declared)
      }
      guard try narrow(found, to: property, in: table) else {
        return try beginAnew(found, column, of: descriptor, hadRows: hadRows)
      }
    }
    if found.type != type {
      if found.type.canMove(to: type) || canWiden(found, to: property, of: descriptor) {
        return try replace(found, column, of: descriptor)
      }
      guard isCustom else {
        throw typeChange(descriptor, name, stored: "\(found.type)", declared: "\(type)")
      }
      return try beginAnew(found, column, of: descriptor, hadRows: hadRows)
    }
    if hadRows { try recordFill(column, of: descriptor, forReturning: found) }
    guard let property else { return }
    if hadRows, let stored = listKeptElsewhere(property, of: descriptor, in: found) {
      guard isCustom else {
        throw LogStoreError.listKeptElsewhere(
          entity: descriptor.entityName,
          property: name,
          stored: stored,
          declared: property.listKeeping
        )
      }
      return try beginAnew(found, column, of: descriptor, hadRows: hadRows)
    }
    try recordInverse(of: property, in: found, of: table, hadRows: hadRows)
    try recordValues(of: property, in: found, of: table)
    try compare(found, property, of: descriptor, hadRows: hadRows)
  }

  /// Looks at what two properties may differ in whose values look alike on disk.
  private mutating func compare(
    _ found: ColumnDefinition,
    _ property: ModelProperty,
    of descriptor: ModelDescriptor,
    hadRows: Bool
  ) throws {
    let table = table(of: descriptor)
    let optionalKey = CatalogueMapping.optionalKey(table: table.number, column: found.number)
    let mayBeNull = found.isNullable || catalogue.metadata[optionalKey] != nil
    if property.isOptional, !mayBeNull {
      try draft.make(.setMetadata(key: optionalKey, value: [1]))
    } else if !property.isOptional, mayBeNull, hadRows, !property.isToMany {
      if property.hasDefault {
        // Another column, so that rows whose value was null have another layout, and are read with the default.
        try replace(found, property.ordinal, of: descriptor)
      } else {
        checks.mandatory.append((table.number, property.ordinal))
      }
    }
  }

  /// Returns the difference of a column's values from a property that cannot read them, though they look alike on disk.
  private func change(
    of found: ColumnDefinition,
    to property: ModelProperty,
    in table: TableDefinition
  ) -> (stored: String, declared: String)? {
    let values =
      ValueRecords.values(of: found.number, in: table.number, catalogue)
      ?? StoredValues(in: found.type)
    return values?.change(to: property, in: families)
  }

  /// Has a relationship keep the references to rows that it can still lead to, if there may be any: some classes have left the
  /// hierarchy of its destination.
  private mutating func narrow(
    _ found: ColumnDefinition,
    to property: ModelProperty,
    in table: TableDefinition
  ) throws -> Bool {
    guard
      case .rows(_, let names) = ValueRecords.values(of: found.number, in: table.number, catalogue),
      case .rows(let entity, let readable) = StoredValues(of: property, in: families),
      !names.isDisjoint(with: readable)
    else { return false }
    let kept = names.filter { readable.contains($0) || !families.contains($0) }
    let values = StoredValues.rows(of: entity, including: kept.union(readable))
    try draft.make(ValueRecords.record(values, of: found.number, in: table.number))
    if property.isDerivable { return true }
    checks.narrowed.append((table.number, property.ordinal))
    if !property.isOptional, !property.isToMany {
      checks.mandatory.append((table.number, property.ordinal))
    }
    return true
  }

  /// Gives a property another column, which knows nothing of the values of the one before: the app's code provides the
  /// new ones.
  private mutating func beginAnew(
    _ found: ColumnDefinition,
    _ column: Int,
    of descriptor: ModelDescriptor,
    hadRows: Bool
  ) throws {
    try drop(found, of: table(of: descriptor))
    // Places in lists that the values were in.
    if let rank = table(of: descriptor).column(named: RankColumn.name(for: found.name)) {
      try drop(rank, of: table(of: descriptor))
    }
    try add(column, of: descriptor, hadRows: hadRows)
  }

  /// The side that stores the membership of a list, if it is not today's.
  private func listKeptElsewhere(
    _ property: ModelProperty,
    of descriptor: ModelDescriptor,
    in found: ColumnDefinition
  ) -> String? {
    guard property.isToMany else { return nil }
    guard case .planned = manner else {
      let table = table(of: descriptor).number
      guard let kind = InverseRecords.kind(of: found.number, in: table, catalogue),
        (kind == .one) != property.isDerivable
      else { return nil }
      return kind == .one ? "with its members" : "with its owner"
    }
    guard let former = former(descriptor),
      let old = former.property(named: property.name)
        ?? property.originalName.flatMap({ former.property(named: $0) }),
      old.isToMany, old.isDerivable != property.isDerivable
    else { return nil }
    return old.listKeeping
  }

  private func typeChange(
    _ descriptor: ModelDescriptor,
    _ property: String,
    stored: String,
    declared: String
  ) -> LogStoreError {
    .propertyTypeChanged(
      entity: descriptor.entityName,
      property: property,
      stored: stored,
      declared: declared
    )
  }

  private mutating func add(
    _ column: Int,
    of descriptor: ModelDescriptor,
    hadRows: Bool
  ) throws {
    let table = table(of: descriptor)
    let property = column < descriptor.properties.count ? descriptor.properties[column] : nil
    let number = table.nextColumnNumber
    try draft.make(
      .addColumn(
        table: table.number,
        name: descriptor.columnName(column),
        type: descriptor.layout.types[column],
        isNullable: property?.isOptional ?? true
      )
    )
    if property?.isEphemeral == true {
      let key = CatalogueMapping.ephemeralKey(table: table.number, column: number)
      try draft.make(.setMetadata(key: key, value: [1]))
    }
    if let property {
      try recordInverse(of: property, for: number, in: table)
      try recordValues(of: property, for: number, in: table)
    }
    guard hadRows, let property else { return }
    changedColumns.insert(ChangedColumn(entity: descriptor.entityName, name: property.name))
    try recordFill(column, of: descriptor, for: number)
    if !property.isOptional, !property.isToMany, !property.hasDefault {
      checks.mandatory.append((table.number, column))
    }
  }

  /// Gives a property another column, in which the values of the one before are read.
  ///
  /// Older rows keep theirs, under a retired column of the same name.
  private mutating func replace(
    _ found: ColumnDefinition,
    _ column: Int,
    of descriptor: ModelDescriptor
  ) throws {
    let table = table(of: descriptor)
    let number = table.nextColumnNumber
    let property = column < descriptor.properties.count ? descriptor.properties[column] : nil
    try draft.make(.retireColumn(table: table.number, column: found.number))
    try draft.make(
      .addColumn(
        table: table.number,
        name: found.name,
        type: descriptor.layout.types[column],
        isNullable: property?.isOptional ?? found.isNullable
      )
    )
    changedColumns.insert(ChangedColumn(entity: descriptor.entityName, name: found.name))
    if let property {
      try recordInverse(of: property, for: number, in: table)
      try recordValues(of: property, for: number, in: table)
    }
    if property?.isOptional == false { try recordFill(column, of: descriptor, for: number) }
  }

  /// Notes what kind of inverse the values in a column were written with, if the store does not say it.
  private mutating func recordInverse(
    of property: ModelProperty,
    in found: ColumnDefinition,
    of table: TableDefinition,
    hadRows: Bool
  ) throws {
    guard let kind = InverseRecords.kind(of: found.number, in: table.number, catalogue) else {
      return try recordInverse(of: property, for: found.number, in: table)
    }
    guard property.isRelationship, hadRows,
      table.isHidden(found.number) || absentEntities.contains(table.name)
    else { return }
    returnedColumns.insert(ChangedColumn(entity: table.name, name: property.name))
    // Meanwhile nothing kept its values in agreement with their other ends.
    if property.isDerivable { return }
    if kind != .none {
      try draft.make(InverseRecords.record(.none, of: found.number, in: table.number))
    }
    if property.inverse?.isDerivable == false {
      let staleness = table.isHidden(found.number) ? InverseRecords.Staleness.property : .entity
      try draft.make(
        InverseRecords.recordStaleness(staleness, of: found.number, in: table.number)
      )
    }
  }

  /// Has the values of relationships looked at whose other ends are there again: what they refer to may be gone.
  private mutating func recordReturns(of descriptor: ModelDescriptor) throws {
    if returnedColumns.isEmpty { return }
    let table = table(of: descriptor)
    for property in descriptor.relationships where !property.isDerivable {
      guard let inverse = property.inverse, let destination = property.destination,
        let column = table.column(named: property.name)
      else { continue }
      let others = families.members(of: ModelDescriptor.of(destination).entityName)
      let isReturned = others.contains {
        returnedColumns.contains(ChangedColumn(entity: $0, name: inverse.name))
      }
      if isReturned {
        try draft.make(InverseRecords.record(.none, of: column.number, in: table.number))
      }
    }
  }

  /// Notes which property is the inverse of each relationship, where the store does not say it.
  private mutating func recordInverses(of descriptor: ModelDescriptor) throws {
    let table = table(of: descriptor)
    for property in descriptor.relationships {
      guard let column = table.column(named: property.name),
        InverseRecords.inverse(of: column.number, in: table.number, catalogue) == nil,
        let inverse = InverseRecords.inverse(of: property, in: catalogue)
      else { continue }
      try draft.make(InverseRecords.record(inverse, of: column.number, in: table.number))
      if lacksOtherEnd(property, of: descriptor) {
        try draft.make(InverseRecords.record(.none, of: column.number, in: table.number))
        try recordNewEnds(of: property)
      }
    }
  }

  /// Notes that the columns at the other ends of a relationship were just added: that they have no values says nothing.
  private mutating func recordNewEnds(of property: ModelProperty) throws {
    guard let inverse = property.inverse, let destination = property.destination else { return }
    for entity in families.members(of: ModelDescriptor.of(destination).entityName).sorted() {
      guard changedColumns.contains(ChangedColumn(entity: entity, name: inverse.name)),
        let table = catalogue.table(named: entity), let column = table.column(named: inverse.name)
      else { continue }
      try draft.make(
        InverseRecords.recordStaleness(.property, of: column.number, in: table.number)
      )
    }
  }

  /// Whether a relationship has values, and its inverse none, because the inverse's column was just added.
  private func lacksOtherEnd(_ property: ModelProperty, of descriptor: ModelDescriptor) -> Bool {
    guard !property.isDerivable, let inverse = property.inverse, !inverse.isDerivable,
      let destination = property.destination.map(ModelDescriptor.of)
    else { return false }
    return changedColumns.contains(
      ChangedColumn(entity: destination.entityName, name: inverse.name)
    ) && !changedColumns.contains(ChangedColumn(entity: descriptor.entityName, name: property.name))
  }

  /// Notes what kind of inverse a relationship has whose column comes.
  private mutating func recordInverse(
    of property: ModelProperty,
    for number: UInt16,
    in table: TableDefinition
  ) throws {
    guard property.isRelationship else { return }
    try draft.make(InverseRecords.record(property.inverseKind, of: number, in: table.number))
  }

  /// Notes what the values in a column are, with those that a property will have beside them.
  private mutating func recordValues(
    of property: ModelProperty,
    in found: ColumnDefinition,
    of table: TableDefinition
  ) throws {
    guard let values = StoredValues(of: property, in: families) else { return }
    guard let stored = ValueRecords.values(of: found.number, in: table.number, catalogue) else {
      checks.numbers.append((table.number, found.number, property, values))
      return try draft.make(ValueRecords.record(values, of: found.number, in: table.number))
    }
    let joined = stored.joined(by: values, without: removedEntities)
    try draft.make(ValueRecords.record(joined, of: found.number, in: table.number))
    if case .rows(_, let names) = stored, !names.isDisjoint(with: removedEntities),
      !property.isDerivable,
      property.inverse != nil
    {
      // Rows that are gone took nothing out of other rows.
      try draft.make(InverseRecords.record(.none, of: found.number, in: table.number))
    }
  }

  /// Notes what the values in a column are that comes.
  private mutating func recordValues(
    of property: ModelProperty,
    for number: UInt16,
    in table: TableDefinition
  ) throws {
    guard let values = StoredValues(of: property, in: families) else { return }
    try draft.make(ValueRecords.record(values, of: number, in: table.number))
  }

  /// Notes what older rows have in a column that comes: nothing needs to be noted if that is null.
  private mutating func recordFill(
    _ column: Int,
    of descriptor: ModelDescriptor,
    for number: UInt16
  ) throws {
    let defaults = descriptor.defaultRow()
    if FillValue.isNull(column, of: defaults, descriptor.layout) { return }
    try recordFill(column, of: defaults, descriptor, for: number)
  }

  /// Notes what rows have in a column that was there from the beginning, and which models without it wrote meanwhile.
  private mutating func recordFill(
    _ column: Int,
    of descriptor: ModelDescriptor,
    forReturning found: ColumnDefinition
  ) throws {
    let table = table(of: descriptor)
    guard column < descriptor.properties.count, !table.gained(found.number),
      table.isHidden(found.number),
      FillValue.value(of: found.number, in: table.number, catalogue) == nil
    else { return }
    try recordFill(column, of: descriptor.defaultRow(), descriptor, for: found.number)
  }

  private mutating func recordFill(
    _ column: Int,
    of defaults: [UInt8],
    _ descriptor: ModelDescriptor,
    for number: UInt16
  ) throws {
    let fill = FillValue.record(
      column,
      of: defaults,
      descriptor.layout,
      for: number,
      in: table(of: descriptor).number
    )
    if let fill { try draft.make(fill) }
  }

  /// Whether a to-one relationship became a list whose membership is stored nowhere else: then the one is its only
  /// member.
  private func canWiden(
    _ found: ColumnDefinition,
    to property: ModelProperty?,
    of descriptor: ModelDescriptor
  ) -> Bool {
    guard let property, property.isToMany, property.inverse == nil else { return false }
    return found.type.canBecomeList(property.columnType)
  }

  /// Notes the constraints that the rows need not follow yet: new ones, those that cover another table that there was, and
  /// those of columns whose values are others now.
  private mutating func recordConstraints(of step: MigrationStep) {
    func name(_ constraint: UniquenessConstraint) -> [String] {
      [constraint.owner.entityName] + constraint.properties
    }
    func entities(_ constraint: UniquenessConstraint, in schema: Schema) -> Set<String> {
      Set(schema.descriptors.filter(constraint.covers).map(\.entityName))
    }
    let known = Dictionary(
      UniquenessConstraint.all(in: step.from).map { (name($0), entities($0, in: step.from)) },
      uniquingKeysWith: { $0.union($1) }
    )
    checks.unique += UniquenessConstraint.all(in: step.to).filter { constraint in
      guard let covered = known[name(constraint)] else { return true }
      return entities(constraint, in: step.to).contains { entity in
        step.from.entitiesByName[entity] != nil && !covered.contains(entity)
          || constraint.properties.contains {
            changedColumns.contains(ChangedColumn(entity: entity, name: $0))
          }
      }
    }
  }
}

extension ModelDescriptor {
  /// The names of the columns that the class's rows have.
  fileprivate var columnNames: Set<String> { Set((0..<layout.count).map(columnName)) }
}

extension ModelProperty {
  /// Whether rows that lack a value get one.
  fileprivate var hasDefault: Bool { defaultValue != nil }
}
