// The Python module, and which instruction set its kernels use.
#include "core/arrays.h"
#include "core/interpreter.h"
#include "kernels.h"

using namespace nb::literals;

namespace baseline {
extern const Kernels kernels;
}
#ifdef CAROUSEVAL_X86_LEVELS
namespace avx2 {
extern const Kernels kernels;
}
#endif

void bind_score(nb::module_& m);   // score.cpp
void bind_search(nb::module_& m);  // search.cpp
void bind_pages(nb::module_& m);   // pages.cpp
void bind_tables(nb::module_& m);  // tables.cpp

const Kernels* active = nullptr;

namespace {

enum class InstructionSet { kBaseline, kAvx2 };

// The kernels of an instruction set; null where this machine or build lacks it.
const Kernels* kernels_of(InstructionSet set) {
#ifdef CAROUSEVAL_X86_LEVELS
  if (set == InstructionSet::kAvx2) {
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    return v3 ? &avx2::kernels : nullptr;  // a processor of level x86-64-v3
  }
#endif
  return set == InstructionSet::kBaseline ? &baseline::kernels : nullptr;
}

InstructionSet active_set = InstructionSet::kBaseline;

void use_instruction_set(InstructionSet set) {
  const Kernels* kernels = kernels_of(set);
  require(kernels, "this machine or build cannot run that instruction set");
  active_set = set;
  active = kernels;
}

}  // namespace

NB_MODULE(_native, m) {
  m.doc() = "Kernels of carouseval; use the functions of carouseval.metrics, which check their arguments.";
#ifdef CAROUSEVAL_SANITIZE
  m.attr("sanitized") = true;
#else
  m.attr("sanitized") = false;
#endif
  main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  nb::enum_<InstructionSet>(m, "InstructionSet", "What the kernels were compiled for.")
      .value("BASELINE", InstructionSet::kBaseline)
      .value("AVX2", InstructionSet::kAvx2);
  bind_score(m);
  bind_search(m);
  bind_pages(m);
  bind_tables(m);

  active = kernels_of(active_set);
  if (kernels_of(InstructionSet::kAvx2)) use_instruction_set(InstructionSet::kAvx2);
  m.def("instruction_set", [] { return active_set; }, "The instruction set in use.");
  m.def("use_instruction_set", &use_instruction_set, "instruction_set"_a,
        "Switch kernels, for tests: every set gives the same bits.");
}
