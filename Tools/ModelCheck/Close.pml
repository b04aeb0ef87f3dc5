/*
 * Closing a store, and opening it again: how long the log's last file is, and what says that the log ends there.
 *
 * A unit is eight bytes, a page four units, a mark one. Every session does anything for a while: it commits, publishes
 * manifests, says that the log is on disk; then it closes, or is killed, or the power fails. Beside each step stands
 * the function it models.
 */
#define PAGE 4
#define CAPACITY 12
#define RESERVE 2       /* LogTail.reserve */
#ifndef SESSIONS
#define SESSIONS 4
#endif

/* The last segment: how long its file is, up to where frames were written, and were synchronized. */
byte size = CAPACITY, written, synced;
byte sizeOnDisk = CAPACITY;
/* Its number, and whether the frame before `written` is a close mark. */
byte number;
bool endsInMark;

/* The manifest that counts, and whether it says that the log was closed. */
byte manifestNumber, manifestEnd;
bool manifestIsClean;

/* LogTail.end, isCutOff, isEnded; Segment.capacity */
byte end, capacity;
bool isCutOff, isEnded, powerFailed;
byte sessions, operations, length;

#define roundedUp(offset) (((offset) + PAGE - 1) / PAGE * PAGE)
#define least(a, b) ((a) < (b) -> (a) : (b))
#define greatest(a, b) ((a) > (b) -> (a) : (b))

inline mayCrash()
{
  if
  :: skip
  :: goto crash
  fi
}

/* What is written behind the end of a file makes it longer. */
inline write(count)
{
  d_step { end = end + count; written = end; size = greatest(size, end) }
}

inline synchronize()
{
  d_step { synced = written; sizeOnDisk = size }
}

/* LogWriter.extend(_:to:) */
inline extend()
{
  d_step { size = CAPACITY; sizeOnDisk = CAPACITY; capacity = CAPACITY; isCutOff = false }
}

/* LogWriter.publishManifest(isClean:_:) */
inline publishManifest(isClean)
{
  d_step { manifestIsClean = isClean; manifestEnd = end; manifestNumber = number }
}

/* LogWriter.makeRoom(for:): in this segment, or in the next. */
inline makeRoom(count)
{
  if
  :: !isEnded && end + count + RESERVE <= capacity
  :: !isEnded && end + count + RESERVE > capacity && isCutOff && end + count + RESERVE <= CAPACITY ->
    extend();
    mayCrash()
  :: else ->
    /* LogWriter.beginNextSegment(for:at:_:): see Segments */
    d_step {
      number++; end = 0; written = 0; synced = 0; endsInMark = false; isEnded = false; isCutOff = false;
      size = CAPACITY; sizeOnDisk = CAPACITY; capacity = CAPACITY
    }
  fi
}

inline commit()
{
  makeRoom(length);
  write(length);
  endsInMark = false;
  mayCrash();
  synchronize()
}

/* LogWriter.end(_:) */
inline close()
{
  if
  :: !isEnded && !(manifestIsClean && manifestNumber == number && manifestEnd == end) ->
#ifdef PLANT_MANIFEST_BEFORE_MARK
    end++;
    publishManifest(true);
    end--;
    mayCrash();
#endif
#ifndef PLANT_SIZE_BELOW_END
    /* LogWriter.makeRoomForMark() */
    if
    :: end + 1 > capacity -> extend(); mayCrash()
    :: else
    fi;
#endif
    write(1);
    endsInMark = true;
    mayCrash();
    synchronize();
    mayCrash();
    publishManifest(true);
    mayCrash();
#ifdef PLANT_SIZE_BELOW_END
    size = least(capacity, roundedUp(end))
#else
    size = greatest(end, least(capacity, roundedUp(end)))
#endif
  :: else
  fi
}

init
{
opening:
  sessions++;
  d_step {
    /* Recovery.checkPresence(_:): the last segment is as long as the manifest says. */
    assert(manifestNumber != number || size >= manifestEnd);
    /* Recovery.settleTail(_:_:): what is known to have been on disk is there. */
    assert(manifestNumber != number || least(written, size) >= manifestEnd);
    assert(size >= synced);
    end = written;
    capacity = size;
    isEnded = !(manifestIsClean && manifestNumber == number && manifestEnd == end && endsInMark) && end > 0;
    isCutOff = !isEnded;
    powerFailed = false
  };
  if
  :: isEnded ->
    synchronize();
    /* LogWriter.witnessRecovery() */
    publishManifest(false);
    mayCrash()
  :: else
  fi;
  operations = 0;
  do
  :: operations < 3 ->
    operations++;
    if
    :: length = 1; commit()
    :: length = 2; commit()
    :: length = 3; commit()
    /* Compactor.publish(): the log is synchronized before the manifest is made. */
    :: end > 0 -> synchronize(); mayCrash(); publishManifest(false)
    :: skip
    /* LogWriter.witnessIfIdle() */
    :: !isEnded && end + 1 + RESERVE <= capacity -> write(1); endsInMark = false
    fi;
    length = 0;
    mayCrash()
  :: close(); break
  od;
crash:
  if
  :: sessions < SESSIONS && number < 3 ->
    atomic {
      if
      :: skip
      :: /* A power cut keeps what was synchronized, and any part of the rest, from its beginning. */
        do
        :: written > synced -> written--; endsInMark = false
        :: break
        od;
        if
        :: size = sizeOnDisk
        :: sizeOnDisk = size
        fi;
        if
        :: written > size -> written = size; endsInMark = false
        :: else
        fi;
        synced = written
      fi;
      length = 0; operations = 0; end = 0; capacity = 0; isEnded = false; isCutOff = false;
      goto opening
    }
  :: else
  fi
}
