/*
 * Compaction: a segment becomes a pack, beside commits, checkpoints and readers.
 *
 * There is one row. Commits 1 and 2 stand in the first segment, sealed and on disk; commits 3 and 4, each of which
 * replaces the row, go to the second. As of commit n the row is n. A compaction folds the first segment into a pack,
 * publishes a manifest that names the pack, and removes the segment. Beside each step stands the function it models.
 *
 * Names are bits of masks: of what a directory was not synchronized for, a power cut keeps any part. A file's content
 * is whole, or may be lost by a power cut until it is synchronized.
 *
 *   -DCRASH            the process is killed, or the power fails, after any step; then the store is opened and goes on
 *   -DCHECKPOINTS      checkpoints are written meanwhile
 *   -DVIEW, -DHISTORY, -DPLAIN   somebody reads meanwhile: by a view, at an earlier commit, or without a pin
 *   -DRELAXED          commits do not wait for the disk (EngineOptions.Durability.relaxed)
 *   -DPLANT_…          a planted fault; see Faults
 */
#define COMMITS 4
#ifndef OPENINGS
#define OPENINGS 2
#endif
#define PACKED_END 2    /* the last commit of the first segment */

/* The files. Manifest 1 is there; the others come. */
#define SEGMENT 1
#define PACK 2
#define MANIFEST1 4
#define MANIFEST2 8
#define MANIFEST3 16
#define CHECKPOINT 32
byte names = SEGMENT | MANIFEST1, durableNames = SEGMENT | MANIFEST1;
/* Whose content is on disk. */
byte whole = SEGMENT | MANIFEST1;

/* The log: up to which commit it was written, and is on disk. */
byte written = PACKED_END, onDisk = PACKED_END;
/* What the manifests say: whether there is a base, with the pack; and up to where the log was on disk. */
bool hasBase[4];
byte durableEnd[4] = PACKED_END;
/* Whether the pack has the row; what the checkpoint says of the row, its place, and up to where the log was on disk. */
bool packHasRow;
byte checkpointSlot, checkpointPlace, checkpointEnd;
bool checkpointKnowsSegment;

/* Memory. */
byte slot = PACKED_END; /* the index: the commit whose record it names */
bool slotIsPacked;      /* RecordLocation.isPacked */
byte appended = PACKED_END, visible = PACKED_END;
byte manifest = 1;      /* Lead.manifest */
bool isRetired;         /* StoreState.baseSegment */
bool segmentIsThere = true; /* StoreState.segments has it */
bool packIsThere;       /* StoreState.packs has it */
bool segmentIsMapped = true;
byte lowWaterMark;
bool lead, checkpointing;
byte pins[2];           /* PinBoard; 0: none */
byte inside;            /* how many readers are counted in (ReaderEpochs) */

bool crashed, powerFailed;
byte running, opened;
byte acknowledged, found;

#define least(a, b) ((a) < (b) -> (a) : (b))
#define pinned(a, b) ((a) == 0 -> (b) : least(a, b))
#define newestManifest(mask) ((mask) & MANIFEST3 -> 3 : ((mask) & MANIFEST2 -> 2 : 1))
#define alive() !crashed || _nr_pr == _pid + 1
#define ended() crashed && _nr_pr == _pid + 1

inline lockLead() { atomic { !lead -> lead = true } }
/* LogWriter.write(_:synchronizing: true, _:), under the lead's lock; publish(_:) */
inline synchronizeLog()
{
  d_step { written = appended; onDisk = appended };
  visible = appended
}

/* LogWriter.commit(_:) */
proctype Committer() provided (alive())
{
  {
    do
    :: appended < COMMITS ->
      /* LogTail.append(_:_:): the record, and the slot that names it */
      atomic { appended++; slot = appended; slotIsPacked = false };
      lockLead();
      written = appended;
#ifndef RELAXED
      onDisk = appended;
#endif
      visible = appended;
      atomic { lead = false; acknowledged = appended }
    :: else -> break
    od;
    running--
  } unless { ended() }
}

/* LogWriter.checkpoint() */
#ifdef CHECKPOINTS
proctype Checkpointer() provided (alive())
{
  byte place, copied;
  bool knows;
  {
    atomic { !checkpointing -> checkpointing = true };
    /* LogWriter.synchronizeForCheckpoint(_:) */
    lockLead();
    synchronizeLog();
    atomic { place = appended; knows = !isRetired; lead = false };
    /* CheckpointWriter.writePages(_:) */
    copied = slot;
#ifndef PLANT_CHECKPOINT_PAGES_NOT_SYNCED
    /* CheckpointWriter.finish(durableEnd:), LogWriter.synchronizeAll() */
    lockLead();
    synchronizeLog();
    lead = false;
#endif
    /* CheckpointFiles.publish(_:number:) */
    d_step {
      checkpointSlot = copied; checkpointPlace = place; checkpointKnowsSegment = knows;
#ifdef PLANT_CHECKPOINT_END_TOO_LATE
      checkpointEnd = appended
#else
      checkpointEnd = place
#endif
    };
    whole = whole | CHECKPOINT;
    names = names | CHECKPOINT;
    durableNames = (durableNames & ~CHECKPOINT) | (names & CHECKPOINT);
    atomic { checkpointing = false; running--; place = 0; copied = 0; knows = false }
  } unless { ended() }
}
#endif

/* PinBoard.floor(upTo:) */
inline lookForPins(newest, result)
{
  atomic {
    result = newest;
    result = least(result, pinned(pins[0], newest));
    result = least(result, pinned(pins[1], newest))
  }
}

proctype Compactor() provided (alive())
{
  byte floor, oldest, before, number;
  bool row;
  {
    /* Compactor.select(_:_:_:): the floor, then whoever follows the index without a pin has to be gone */
#ifdef PLANT_DRAINED_BEFORE_FLOOR
    inside == 0;
#endif
#ifdef PLANT_PINS_IGNORED
    floor = visible;
#else
    atomic { oldest = visible };
    lookForPins(oldest, floor);
#endif
#ifndef PLANT_DRAINED_BEFORE_FLOOR
    inside == 0;
#endif
    if
    :: floor < PACKED_END -> goto givenUp
    :: else
    fi;
    /* Compactor.verdict(on:_:): left out, if a commit up to the floor took its place. */
    row = (slot <= PACKED_END || floor <= PACKED_END);
    /* Compactor.endPack(), verify(upTo:): written, synchronized, read back, named. */
    packHasRow = row;
#ifndef PLANT_PACK_NOT_SYNCED
    whole = whole | PACK;
#endif
    names = names | PACK;

    /* Compactor.finish(): under the lock of checkpoints. */
    atomic { !checkpointing -> checkpointing = true };
    /* Compactor.publish() */
#ifndef PLANT_PACK_NAME_NOT_SYNCED
    durableNames = durableNames | (names & PACK);
#endif
    before = lowWaterMark;
    lockLead();
#ifndef PLANT_LOG_NOT_SYNCED_BEFORE_MANIFEST
    synchronizeLog();
#endif
    /* Compactor.claimFloor(): who pins an earlier commit does so before it looks at the floor. */
#ifdef PLANT_FLOOR_CLAIMED_AFTER_LOOK
    lookForPins(floor, oldest);
    lowWaterMark = floor;
#else
    lowWaterMark = floor;
    lookForPins(floor, oldest);
#endif
#if !defined(PLANT_LATE_PINS_IGNORED) && !defined(PLANT_PINS_IGNORED)
    if
    :: oldest < floor ->
      lowWaterMark = before; lead = false; checkpointing = false;
      goto givenUp
    :: else
    fi;
#endif
    /* LogWriter.makeManifest(isClean:nextSegment:_:) */
    d_step { number = manifest + 1; hasBase[number] = true; durableEnd[number] = onDisk };
    lead = false;
#ifdef PLANT_REMOVED_BEFORE_MANIFEST
    names = names & ~SEGMENT;
#endif
    /* ManifestFiles.write(_:), putInPlace(_:) */
#ifndef PLANT_MANIFEST_NOT_SYNCED
    whole = whole | (2 << number);
#endif
    names = names | (2 << number);
#ifndef PLANT_MANIFEST_NAME_NOT_SYNCED
    durableNames = (durableNames & (SEGMENT | PACK | CHECKPOINT)) | (names & (MANIFEST1 | MANIFEST2 | MANIFEST3));
#endif
    if
    :: number == 3 -> names = names & ~MANIFEST1
    :: else
    fi;
    /* Compactor.retire(_:) */
    lockLead();
    manifest = number;
#ifdef PLANT_GONE_BEFORE_PACK_IS_KNOWN
    isRetired = true;
    segmentIsThere = false;
    packIsThere = true;
#else
    packIsThere = true;
    isRetired = true;
    segmentIsThere = false;
#endif
    lead = false;
    /* Compactor.moveSlots(after:), under the tail's lock */
    atomic {
      if
      :: !slotIsPacked && slot <= PACKED_END -> slotIsPacked = true
#ifdef PLANT_NEWER_SLOT_MOVED
      :: slot > PACKED_END -> slot = PACKED_END; slotIsPacked = true
#endif
      :: else
      fi
    };
    /* Compactor.remove(_:): the checkpoints of before, and what was taken; mappings when nobody reads. */
    names = names & ~CHECKPOINT;
#ifndef PLANT_FILES_STAY
    names = names & ~SEGMENT;
#endif
    checkpointing = false;
    goto finished;
givenUp:
    /* Compactor.giveUp() */
    names = names & ~PACK;
    packHasRow = false;
finished:
    atomic { running--; floor = 0; oldest = 0; before = 0; number = 0; row = false }
  } unless { ended() }
}

/* RowReader.place(of:), StoreState.withRecord(at:of:_:), resolve(_:of:): the row as of a commit. */
inline read(sequence, value)
{
  place = slot;
  packed = slotIsPacked;
  /* RowReader.earlierPlace(of:_:): from record to record. */
  do
  :: !packed && place > PACKED_END && place > sequence -> place--
  :: else -> break
  od;
  if
  :: !packed && place > PACKED_END -> value = place
  :: else ->
#ifdef PLANT_RETIRED_ASKED_FIRST
    if
    :: packed || isRetired -> packed = true
    :: else ->
      /* A segment that is taken out between the look and the reading is missing. */
      assert(segmentIsThere);
      value = place
    fi;
#else
    if
    :: packed
    :: !packed && segmentIsThere -> value = place
    :: !packed && !segmentIsThere -> assert(isRetired); packed = true
    fi;
#endif
    if
    :: packed -> assert(packIsThere && packHasRow); value = PACKED_END
    :: else
    fi
  fi
}

#ifdef VIEW
/* ReadView.init(state:), readRow(_:_:) */
proctype Viewer() provided (alive())
{
  byte sequence, value, place;
  bool packed;
  {
    /* PinBoard.pin(_:at:), under its lock; what is then visible is no older. */
    atomic { sequence = visible; pins[0] = sequence };
    inside++;
    read(sequence, value);
    assert(value == sequence);
    inside--;
    /* And once more, whatever came meanwhile. */
    inside++;
    read(sequence, value);
    assert(value == sequence);
    inside--;
    pins[0] = 0;
    running--
  } unless { ended() }
}
#endif

#ifdef HISTORY
/* StorageEngine.makeReadView(at:) */
proctype Historian() provided (alive())
{
  byte holder, value, place;
  bool packed;
  {
    atomic { holder = visible; pins[0] = holder };
    pins[1] = PACKED_END;
    if
    :: lowWaterMark <= PACKED_END ->
      pins[0] = 0;
      inside++;
      read(PACKED_END, value);
      assert(value == PACKED_END);
      inside--
    :: else -> pins[0] = 0
    fi;
    pins[1] = 0;
    running--
  } unless { ended() }
}
#endif

#ifdef PLAIN
/* StorageEngine.readRow(_:_:): the newest row, without a pin */
proctype Plain() provided (alive())
{
  byte sequence, value, place;
  bool packed;
  {
    inside++;
    sequence = visible;
    read(sequence, value);
    assert(value == sequence);
    inside--;
    running--
  } unless { ended() }
}
#endif

#ifdef CRASH
inline powerCut()
{
  powerFailed = true;
  /* Of the names, any part. */
  i = 0;
  do
  :: i < 6 ->
    if
    :: ((names ^ durableNames) & (1 << i)) -> if :: durableNames = durableNames ^ (1 << i) :: skip fi
    :: else
    fi;
    i++
  :: else -> break
  od;
  names = durableNames;
  /* Of the log, what was on disk, and any more; that it is a beginning GroupCommit shows. */
  do
  :: written > onDisk -> written--
  :: break
  od;
  i = 0
}

proctype Crash()
{
  byte i;
  if
  :: atomic { !crashed && running > 0 -> crashed = true }
  :: atomic { !crashed && running > 0 -> crashed = true; powerCut(); }
  :: running == 0
  fi
}

/* Opening.run(), Recovery.run(), Recovery.repair(_:) */
inline recover()
{
  atomic {
    n = newestManifest(names);
    /* The manifest with the highest number is the store; a damaged one keeps it from opening. */
    assert(names & (MANIFEST1 | MANIFEST2 | MANIFEST3));
    assert(!powerFailed || (whole & (2 << n)));
    /* Recovery.openPacks(), LogFiles: every file it needs is there, and whole. */
    assert(!hasBase[n] || (names & PACK));
    assert(!hasBase[n] || !powerFailed || (whole & PACK));
    assert(hasBase[n] || (names & SEGMENT));
    /* Recovery.settleTail(_:_:): what is proven to have been on disk is there. */
    assert(written >= durableEnd[n]);
    /* Nothing that somebody was told of is lost. */
#ifdef RELAXED
    assert(powerFailed || written >= acknowledged);
#else
    assert(written >= acknowledged);
#endif
    assert(written >= found && written >= onDisk);
    slot = written; slotIsPacked = false;
    if
    :: (names & CHECKPOINT) && (whole & CHECKPOINT) ->
      assert(written >= checkpointEnd);
      /* Recovery.check(_:_:): a checkpoint of other files is passed over. */
      if
#ifdef PLANT_CHECKPOINT_OF_OTHER_FILES
      :: true ->
        assert(!(checkpointKnowsSegment && checkpointSlot <= PACKED_END && hasBase[n] && written == PACKED_END));
#else
      :: checkpointKnowsSegment == !hasBase[n] && checkpointPlace <= written ->
#endif
        /* What its pages name is in the log, or what is read after its place takes its place. */
        assert(checkpointSlot <= written);
        slot = (written > checkpointPlace -> written : checkpointSlot);
        assert(slot == written)
      :: else
      fi
    :: else
    fi;
    /* The row, as of the commit that was found. */
    if
    :: slot <= PACKED_END && hasBase[n] -> assert(packHasRow); slotIsPacked = true
    :: else
    fi;
#ifndef PLANT_ROOT_NOT_SYNCED_AT_OPENING
    /* Opening.makeDirectories(): the manifest's name is on disk before what it does not name is removed. */
    durableNames = (durableNames & (SEGMENT | PACK | CHECKPOINT)) | (names & (MANIFEST1 | MANIFEST2 | MANIFEST3));
#endif
    /* StoreState.removeRetiredFiles(behind:) */
    if
    :: hasBase[n] -> names = names & ~SEGMENT
    :: else -> names = names & ~PACK; whole = whole & ~PACK; packHasRow = false
    fi;
    /* Recovery.repair(_:) */
    found = written; acknowledged = written; onDisk = written;
    whole = whole | (names & CHECKPOINT);
    powerFailed = false; crashed = false;
    appended = written; visible = written; manifest = n;
    isRetired = hasBase[n]; segmentIsThere = !hasBase[n]; packIsThere = hasBase[n];
    lowWaterMark = (hasBase[n] -> PACKED_END : 0);
    lead = false; checkpointing = false; inside = 0; running = 0;
    pins[0] = 0; pins[1] = 0
  }
}
#endif

inline begin()
{
  atomic {
    run Committer(); running++;
    if
    :: !hasBase[manifest] -> run Compactor(); running++
    :: else
    fi;
#ifdef CHECKPOINTS
    run Checkpointer(); running++;
#endif
#ifdef VIEW
    run Viewer(); running++;
#endif
#ifdef HISTORY
    run Historian(); running++;
#endif
#ifdef PLAIN
    run Plain(); running++;
#endif
#ifdef CRASH
    run Crash()
#endif
  }
}

init
{
#ifdef CRASH
  byte n;
  begin();
  do
  :: opened < OPENINGS ->
    (running == 0 || crashed) && _nr_pr == 1;
    opened++;
    recover();
    begin()
  :: else -> break
  od;
  (running == 0 || crashed) && _nr_pr == 1;
  recover()
#else
  begin()
#endif
}
