/* Lines: each instruction of a kernel is a line of a file that there is not, so that tables of
 * lines say which bytes are of which. */
#include "codegen/cpu/emit_llvm.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

static void flag(cg *c, const char *name, uint32_t value)
{
    LLVMValueRef v = LLVMConstInt(c->i32, value, false);
    if (LLVMGetModuleFlag(c->mod, name, strlen(name))) return;
    LLVMAddModuleFlag(c->mod, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                      LLVMValueAsMetadata(v));
}

void cg_begin_lines(cg *c)
{
    static const char file[] = "kernel", by[] = "gnnc";
    size_t n;
    const char *name = LLVMGetValueName2(c->fn, &n);
    LLVMDIBuilderRef d = LLVMCreateDIBuilder(c->mod);
    LLVMMetadataRef f = LLVMDIBuilderCreateFile(d, file, sizeof file - 1, "", 0);
    LLVMDIBuilderCreateCompileUnit(d, LLVMDWARFSourceLanguageC99, f, by, sizeof by - 1, true, "", 0,
                                   0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0, false, false, "",
                                   0, "", 0);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(d, f, NULL, 0, LLVMDIFlagZero);
    c->lines = LLVMDIBuilderCreateFunction(d, f, name, n, name, n, f, 1, type, false, true, 1,
                                           LLVMDIFlagZero, true);
    LLVMSetSubprogram(c->fn, c->lines);
    LLVMDIBuilderFinalize(d);
    LLVMDisposeDIBuilder(d);
    flag(c, "Debug Info Version", LLVMDebugMetadataVersion());
    flag(c, "Dwarf Version", 4);
}

void cg_locate(cg *c, kir_id i)
{
    if (!c->place[i]) return;
    LLVMSetCurrentDebugLocation2(
        c->b, LLVMDIBuilderCreateDebugLocation(c->ctx, c->place[i], 0, c->lines, NULL));
}
