import RowFormat

extension StoreReversal {
  /// A list that is made of its members, and the state in which it had the order that it gets back.
  private struct OrderedList {
    let transaction: Int64
    let owner: Restoration
    let property: ModelProperty
    let inverse: ModelProperty
  }

  /// Gives lists the order that they had, unless others have changed it since.
  func orderLists() throws {
    let lists = restorations.flatMap(lists).sorted { $0.transaction < $1.transaction }
    guard !lists.isEmpty else { return }
    let formerRows = Dictionary(
      restorations.lazy.map { (ObjectIdentifier($0.model), $0.row) },
      uniquingKeysWith: { first, _ in first }
    )
    var start = 0
    while start < lists.count {
      let transaction = lists[start].transaction
      let end = lists[start...].firstIndex { $0.transaction != transaction } ?? lists.count
      try rows.read(behind: transaction) { then, connection in
        for list in lists[start..<end] { try order(list, formerRows, then, connection) }
      }
      start = end
    }
  }

  private func lists(of owner: Restoration) -> [OrderedList] {
    owner.orders.compactMap { property, transaction in
      property.inverse.map {
        OrderedList(transaction: transaction, owner: owner, property: property, inverse: $0)
      }
    }
  }

  private func order(
    _ list: OrderedList,
    _ formerRows: [ObjectIdentifier: RowReference],
    _ then: ModelContext,
    _ connection: StoreConnection
  ) throws {
    let state = list.owner.model._$state
    let members = state.destinations(list.property)
    if members.count < 2 { return }
    let references = members.map { formerRows[ObjectIdentifier($0)] ?? $0._$state.reference }
    let rows = try connection.store.rows(at: references, for: then.editingState)
    let ranks = zip(members, rows).map { member, row in
      row.flatMap { member._$state.descriptor.rank(in: $0, list.inverse, of: list.owner.row) }
    }
    // Those that had no place then come last, as they are.
    let order = members.indices.sorted { first, second in
      switch (ranks[first], ranks[second]) {
      case (let first?, let second?) where first != second: first < second
      case (_?, nil): true
      case (nil, _?): false
      default: first < second
      }
    }
    if order.elementsEqual(members.indices) { return }
    state.setMembers(order.map { members[$0] }, list.property, of: list.owner.model)
  }
}

extension ModelDescriptor {
  /// The place of a row in the list of an owner; `nil` if it is in another one, or has no place.
  fileprivate func rank(
    in row: FetchedRow,
    _ inverse: ModelProperty,
    of owner: RowReference
  ) -> Int64? {
    guard let column = rankColumns[inverse.ordinal] else { return nil }
    return row.withBytes { bytes in
      guard !layout.isNull(inverse.ordinal, in: bytes), !layout.isNull(column, in: bytes),
        layout.reference(inverse.ordinal, in: bytes) == owner
      else { return nil }
      return layout.integer(column, in: bytes)
    }
  }
}
